//! Going somewhere and coming back, and what can be done with the row under the cursor.

use super::actions::ACTIONS;
use super::documents::{Asked, Document, Fetched, Wanted};
use super::drift;
use super::typing::{self, Accepting, Ask, Over};
use super::view::{At, Select, Tab, Top, View};
use super::{App, Effect, Filter};
use crate::desired::{Rule, Verdict};
use crate::diagnose::Layer;
use crate::page::{About, Focus, Opens, Page};

/// More steps than anybody goes back.
const DEEPEST: usize = 64;

/// What is said when a key was meant for a row that went away.
const GONE: &str = "that row is gone";

/// To the next one or the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Previous,
}

/// Opens the row under the cursor. If it is gone, nothing is opened in its place.
pub(super) fn open(app: &mut App, page: &Page) -> Vec<Effect> {
    let Some(pane) = page.focused() else { return Vec::new() };
    let Some(row) = page.row() else {
        let index = app.spot(pane.id).index;
        app.spot_mut(pane.id).select = Select::At(index);
        return app.say(GONE);
    };
    let Some(opens) = row.opens.clone() else { return Vec::new() };
    app.spot_mut(pane.id).select = Select::Id(row.id.to_string());
    follow(app, opens, page)
}

pub(super) fn follow(app: &mut App, opens: Opens, page: &Page) -> Vec<Effect> {
    match opens {
        Opens::Blocker(id) => {
            app.enter(At::Blocker(id));
            return page.about().map_or_else(Vec::new, |about| compare_ahead(app, &target(about, Tab::Diff)));
        }
        Opens::Object(object) => {
            app.enter(At::Object { object: object.clone(), tab: Tab::Why });
            let mut effects = want(app, page.about(), Document::Yaml);
            effects.extend(compare_ahead(app, &object));
            return effects;
        }
        Opens::Layer(layer) => {
            app.choose_layer(layer.as_deref());
            app.view.focus = None;
        }
        Opens::Namespace(name) => return typing::only_namespace(app, name),
        Opens::Diff(object) => {
            app.enter(At::Object { object, tab: Tab::Diff });
            return want(app, None, Document::Diff);
        }
        Opens::Screen("drift") => return drift::open(app),
        Opens::Screen("coverage") => app.enter(At::Coverage),
        Opens::Screen("quiet") => app.enter(At::Quiet),
        Opens::Screen(_) => app.home(),
        Opens::Action(id) => return run(app, id, page),
        Opens::Filter(text) => {
            app.home();
            app.view.filter = Filter::parse(&text);
        }
        Opens::Unfold(id) => {
            let unfolded = &mut app.view.reading.unfolded;
            if !unfolded.remove(&id) {
                unfolded.insert(id);
            }
        }
        Opens::Query(text) => return typing::lay_over(app, Over::Palette(super::Input::new(text))),
    }
    Vec::new()
}

/// Runs an action that was chosen by name, on the page that lies below the palette.
fn run(app: &mut App, id: &str, page: &Page) -> Vec<Effect> {
    app.over = None;
    let under = Page { overlay: None, ..page.clone() };
    match ACTIONS.iter().find(|action| action.id == id) {
        Some(action) if (action.when)(app, &under) => (action.run)(app, &under),
        Some(_) | None => app.say("there is nothing here that this could act on"),
    }
}

pub(super) fn can_go_back(app: &App) -> bool {
    app.over.is_some() || !app.below.is_empty() || !app.view.filter.text.is_empty() || app.layer.is_some()
}

/// One step back: what lies over the screen, then the filter, then the view, then the layer. Never out of the program.
pub(super) fn back(app: &mut App) -> Vec<Effect> {
    if app.over.take().is_some() {
        return Vec::new();
    }
    if drift::can_stop(app) {
        return drift::stop(app);
    }
    if !app.view.filter.text.is_empty() {
        app.view.filter = Filter::default();
    } else if let Some(view) = app.below.pop() {
        app.view = view;
    } else {
        app.layer = None;
    }
    Vec::new()
}

/// Whether that side of what the cursor is on can be shown, and is not already. A row that is gone can still say so.
pub(super) fn can_show(app: &App, page: &Page, tab: Tab) -> bool {
    if is_gone(page) {
        return true;
    }
    about(page, tab).is_some_and(|about| app.view.at != At::Object { object: target(about, tab), tab })
}

/// What a tab would be about: for logs the page's pod, where the row has none.
fn about(page: &Page, tab: Tab) -> Option<&About> {
    match tab {
        Tab::Why | Tab::Tree | Tab::Events | Tab::Diff | Tab::Yaml => page.about(),
        Tab::Logs | Tab::Previous => [page.about(), page.about.as_ref()].into_iter().flatten().find(|about| about.pod.is_some()),
    }
}

/// The object whose page a tab is on.
fn target(about: &About, tab: Tab) -> String {
    let declared = about.declared.as_ref().filter(|_| tab == Tab::Diff);
    declared.unwrap_or(&about.object).clone()
}

/// Whether there is another pane or tab.
pub(super) fn can_turn(app: &App, page: &Page) -> bool {
    matches!(app.view.at, At::Object { .. }) || focusable(page).len() > 1
}

/// Whether the row under the cursor went away.
fn is_gone(page: &Page) -> bool {
    let list = page.focused().and_then(|pane| pane.list());
    list.is_some_and(|list| list.selected.is_some() && list.row().is_none())
}

fn focusable(page: &Page) -> Vec<&'static str> {
    page.panes().into_iter().filter(|pane| pane.focus != Focus::Never).map(|pane| pane.id).collect()
}

/// Shows a side of the object that the page, or the row under the cursor, is about.
pub(super) fn show(app: &mut App, page: &Page, tab: Tab) -> Vec<Effect> {
    if is_gone(page) {
        return open(app, page);
    }
    let Some(about) = about(page, tab).cloned() else { return Vec::new() };
    let object = match (tab, &about.pod) {
        (Tab::Logs | Tab::Previous, Some(pod)) if !app.is_on(&about.object) => pod.clone(),
        _ => target(&about, tab),
    };
    if app.is_on(&object) {
        app.turn(tab);
    } else {
        app.enter(At::Object { object, tab });
    }
    fetch_for(app, Some(&about), tab)
}

/// The document of the tab, if there is one that was not fetched yet.
fn fetch_for(app: &mut App, about: Option<&About>, tab: Tab) -> Vec<Effect> {
    match tab {
        Tab::Why | Tab::Tree => Vec::new(),
        Tab::Events => want(app, about, Document::Events),
        Tab::Diff => want(app, about, Document::Diff),
        Tab::Yaml => want(app, about, Document::Yaml),
        Tab::Logs => want(app, about, Document::Logs),
        Tab::Previous => want(app, about, Document::Previous),
    }
}

fn want(app: &mut App, about: Option<&About>, document: Document) -> Vec<Effect> {
    let At::Object { object, .. } = &app.view.at else { return Vec::new() };
    if app.documents.get(object, document).is_some_and(Fetched::is_enough) {
        return Vec::new();
    }
    fetch(app, Wanted::new(&object.clone(), document, about))
}

/// The diff of what was opened may name its cause. Pods are made by others: theirs says nothing.
fn compare_ahead(app: &mut App, object: &str) -> Vec<Effect> {
    if object.starts_with("Pod/") || app.documents.get(object, Document::Diff).is_some() {
        return Vec::new();
    }
    fetch(app, Wanted { asked: Asked::Ahead, ..Wanted::new(object, Document::Diff, None) })
}

fn fetch(app: &mut App, wanted: Wanted) -> Vec<Effect> {
    app.documents.ask(wanted.clone());
    vec![Effect::Fetch(wanted)]
}

/// The document on the screen: its pane, its object, which it is.
pub(super) fn document(app: &App) -> Option<(&'static str, String, Document)> {
    let At::Object { object, tab } = &app.view.at else { return None };
    let (pane, document) = match tab {
        Tab::Why | Tab::Tree => return None,
        Tab::Events => ("events", Document::Events),
        Tab::Diff => ("diff", Document::Diff),
        Tab::Yaml => ("yaml", Document::Yaml),
        Tab::Logs => ("logs", Document::Logs),
        Tab::Previous => ("previous", Document::Previous),
    };
    Some((pane, object.clone(), document))
}

pub(super) fn reload(app: &mut App, page: &Page) -> Vec<Effect> {
    let Some((_, object, document)) = document(app) else { return Vec::new() };
    let wanted = app
        .documents
        .get(&object, document)
        .map_or_else(|| Wanted::new(&object, document, page.about()), |known| Wanted { asked: Asked::ByUser, ..known.wanted.clone() });
    fetch(app, wanted)
}

/// The comparison on the screen.
fn comparison(app: &App) -> Option<&crate::desired::Comparison> {
    let (_, object, document) = document(app)?;
    app.documents.get(&object, document)?.comparison()
}

pub(super) fn has_other_source(app: &App) -> bool {
    comparison(app).is_some_and(|comparison| comparison.against.len() > 1)
}

/// The next source of desired state; after the last comes the first.
pub(super) fn next_source(app: &mut App) -> Vec<Effect> {
    let count = comparison(app).map_or(0, |comparison| comparison.against.len());
    if count > 0 {
        app.view.reading.source = (app.view.reading.source + 1) % count;
        app.view.reading.side_by_side = false;
        *app.view.spot_mut("diff") = super::Spot::default();
    }
    Vec::new()
}

/// The difference under the cursor, as a rule would accept it, with the diff that shows it.
pub(super) fn difference(app: &App, page: &Page) -> Option<(Rule, Wanted)> {
    let (_, object, document) = document(app)?;
    let fetched = app.documents.get(&object, document)?;
    let comparison = fetched.comparison()?;
    if app.view.reading.side_by_side {
        return None;
    }
    let against = comparison.against.get(app.view.reading.source.checked_rem(comparison.against.len())?)?;
    let row = page.focused().filter(|pane| pane.id == "diff")?.list()?.row()?;
    let field = against.diff.fields.iter().find(|field| field.path.to_string() == *row.id)?;
    let can_be =
        !matches!(field.verdict, Verdict::Equal | Verdict::Server | Verdict::Controller | Verdict::InvalidDesired | Verdict::Approved);
    can_be.then(|| (Rule::of(&against.diff.object, field), fetched.wanted.clone()))
}

/// Accepts the difference under the cursor: where the rule goes is asked first, then why.
pub(super) fn accept(app: &mut App, page: &Page) -> Vec<Effect> {
    let Some((rule, wanted)) = difference(app, page) else { return Vec::new() };
    app.accepting = Some(Accepting { rule, wanted });
    typing::ask(app, Ask::Rules)
}

/// All sources side by side, or one of them again.
pub(super) fn side_by_side(app: &mut App) -> Vec<Effect> {
    app.view.reading.side_by_side = !app.view.reading.side_by_side;
    *app.view.spot_mut("diff") = super::Spot::default();
    Vec::new()
}

/// Whether there is something to try out: a source that says what was asked for.
pub(super) fn can_dry_run(app: &App) -> bool {
    comparison(app).is_some_and(|comparison| !comparison.against.is_empty())
}

/// Fetches the diff again, this once with server-side dry runs.
pub(super) fn dry_run(app: &mut App) -> Vec<Effect> {
    let Some((_, object, document)) = document(app) else { return Vec::new() };
    fetch(app, Wanted { asked: Asked::DryRun, ..Wanted::new(&object, document, None) })
}

/// Whether the diff has rows that are folded away, or were.
pub(super) fn has_explained(app: &App) -> bool {
    let has = |against: &crate::desired::Against| against.diff.fields.iter().any(|field| field.verdict.is_quiet());
    !app.view.reading.side_by_side && comparison(app).is_some_and(|comparison| comparison.against.iter().any(has))
}

/// The next pane; where there is only one, the next tab.
pub(super) fn pane(app: &mut App, page: &Page, step: Step) -> Vec<Effect> {
    let panes = focusable(page);
    if panes.len() < 2 {
        return turn(app, page, step);
    }
    let here = page.focused().and_then(|pane| panes.iter().position(|id| *id == pane.id)).unwrap_or(0);
    let next = match step {
        Step::Next => here + 1,
        Step::Previous => here + panes.len() - 1,
    };
    app.view.focus = Some(panes[next % panes.len()]);
    Vec::new()
}

/// The next tab of an object; elsewhere the next pane.
pub(super) fn tab(app: &mut App, page: &Page, step: Step) -> Vec<Effect> {
    match app.view.at {
        At::Object { .. } => turn(app, page, step),
        At::Triage | At::Blocker(_) | At::Drift | At::Coverage | At::Quiet => pane(app, page, step),
    }
}

fn turn(app: &mut App, page: &Page, step: Step) -> Vec<Effect> {
    let At::Object { tab, .. } = &app.view.at else { return Vec::new() };
    let tab = match step {
        Step::Next => tab.next(),
        Step::Previous => tab.previous(),
    };
    app.turn(tab);
    fetch_for(app, page.about.as_ref(), tab)
}

pub(super) fn layer_by_number(app: &mut App) -> Vec<Effect> {
    let digit = app.pressed.and_then(|(chord, _)| chord.typed()).and_then(|c| c.to_digit(10));
    app.layer = Layer::ALL.into_iter().find(|layer| layer.number().map(u32::from) == digit);
    Vec::new()
}

pub(super) fn step_layer(app: &mut App, step: Step) -> Vec<Effect> {
    // All of them come before the first and after the last.
    let here = app.layer.map_or(0, |layer| layer as usize + 1);
    let count = Layer::ALL.len() + 1;
    let next = match step {
        Step::Next => here + 1,
        Step::Previous => here + count - 1,
    } % count;
    app.layer = next.checked_sub(1).map(|at| Layer::ALL[at]);
    Vec::new()
}

/// The blocker that *mute* is about: the row's, or the screen's.
pub(super) fn blocker(app: &App, page: &Page) -> Option<String> {
    match (page.row().and_then(|row| row.opens.clone()), &app.view.at) {
        (Some(Opens::Blocker(id)), _) => Some(id),
        (_, At::Blocker(id)) => Some(id.clone()),
        _ => None,
    }
}

pub(super) fn mute(app: &mut App, page: &Page) -> Vec<Effect> {
    let Some(id) = blocker(app, page) else { return Vec::new() };
    if app.muted.remove(&id) {
        return app.say("it speaks again");
    }
    app.muted.insert(id);
    // Its row goes; the cursor stays on its line and takes the next one.
    if let Some((pane, index)) = page.focused().and_then(|pane| Some((pane.id, pane.list()?.index(&page.row()?.id)?))) {
        let spot = app.spot_mut(pane);
        (spot.select, spot.index) = (Select::At(index), index);
    }
    app.say("muted for this session; z shows what is muted")
}

impl App {
    /// Whether this object's page is on the screen.
    fn is_on(&self, wanted: &str) -> bool {
        matches!(&self.view.at, At::Object { object, .. } if object == wanted)
    }

    pub(super) fn enter(&mut self, at: At) {
        self.over = None;
        if self.view.at == at {
            return;
        }
        let left = std::mem::replace(&mut self.view, View::new(at));
        self.below.push(left);
        if self.below.len() > DEEPEST {
            // The first screen stays below all others.
            self.below.remove(1);
        }
        self.logs_begin_at_their_end();
    }

    /// Back to the first screen, which has kept its place.
    fn home(&mut self) {
        self.over = None;
        if !self.below.is_empty() {
            self.view = self.below.swap_remove(0);
            self.below.clear();
        }
    }

    fn turn(&mut self, to: Tab) {
        if let At::Object { tab, .. } = &mut self.view.at {
            *tab = to;
            self.view.focus = None;
        }
        self.logs_begin_at_their_end();
    }

    fn logs_begin_at_their_end(&mut self) {
        if let Some((pane @ ("logs" | "previous"), object, document)) = document(self)
            && self.documents.get(&object, document).is_none()
        {
            self.view.spot_mut(pane).top = Top::End;
        }
    }

    pub(super) fn choose_layer(&mut self, id: Option<&str>) {
        self.layer = Layer::ALL.into_iter().find(|layer| Some(layer.id()) == id);
    }
}
