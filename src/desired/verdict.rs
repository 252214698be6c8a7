//! Why the two sides of a place differ: spelling, the server, admission, a controller, a change not yet applied, or drift. Each answer
//! names the evidence that decided it.

use super::equal::same;
use super::managers::{self, Class, Operation};
use super::owner::Entry;
use super::place::{Place, Whole};
use super::{admitted, defaults, fault, helm, phenomena, risk};

/// What a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The same meaning in another spelling.
    Equal,
    Defaulted,
    /// Allocated or kept by the API server.
    Server,
    /// A webhook or an admission plugin wrote it.
    Admission,
    /// A controller rightly owns it.
    Controller,
    /// An accept rule or the baseline covers it.
    Approved,
    /// Desired is newer than what was last applied.
    Pending,
    /// Live changed away from what was applied.
    Drift,
    /// Two managers were seen to write it in turn.
    Conflict,
    /// Cannot be stored as it is written.
    InvalidDesired,
    /// The evidence does not suffice.
    Unknown,
}

impl Verdict {
    /// The word in JSON and on screen.
    pub fn id(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Defaulted => "defaulted",
            Self::Server => "server",
            Self::Admission => "admission",
            Self::Controller => "controller",
            Self::Approved => "approved",
            Self::Pending => "pending",
            Self::Drift => "drift",
            Self::Conflict => "conflict",
            Self::InvalidDesired => "invalid-desired",
            Self::Unknown => "unknown",
        }
    }

    /// Its place on a screen that shows the worst first.
    pub fn rank(self) -> usize {
        const WORST_FIRST: [Verdict; 11] = [
            Verdict::Conflict,
            Verdict::Drift,
            Verdict::InvalidDesired,
            Verdict::Pending,
            Verdict::Unknown,
            Verdict::Controller,
            Verdict::Admission,
            Verdict::Approved,
            Verdict::Server,
            Verdict::Defaulted,
            Verdict::Equal,
        ];
        WORST_FIRST.iter().position(|verdict| *verdict == self).unwrap_or(WORST_FIRST.len())
    }

    /// Whether it is explained and needs nobody: not unfolded unless somebody asks.
    pub fn is_quiet(self) -> bool {
        match self {
            Self::Pending | Self::Drift | Self::Conflict | Self::InvalidDesired | Self::Unknown => false,
            Self::Equal | Self::Defaulted | Self::Server | Self::Admission | Self::Controller | Self::Approved => true,
        }
    }

    /// Whether somebody has to do something about it.
    pub fn is_loud(self) -> bool {
        matches!(self, Self::Pending | Self::Drift | Self::Conflict)
    }
}

/// A verdict with what decided it.
pub struct Decision {
    pub verdict: Verdict,
    /// Index of the entry of managedFields.
    pub owner: Option<usize>,
    pub reason: String,
}

/// How what was last applied stands to the two sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Applied {
    /// Nothing says what was applied.
    Unsaid,
    /// What is asked for was applied.
    Desired,
    /// Live is what was applied; desired is newer.
    Live,
    /// Neither.
    Neither,
}

/// What is known of a place before it is judged.
struct Known<'a> {
    place: &'a Place<'a>,
    owner: Option<usize>,
    entry: Option<&'a Entry<'a>>,
    /// The owner is the manager that applies the source.
    is_ours: bool,
    /// The kind is a custom one and nothing says what its fields are.
    has_no_schema: bool,
    applied: Applied,
}

/// Judges a place whose sides are not written alike.
pub fn decide(place: &Place<'_>) -> Decision {
    let is_same = same(place.shape, place.names(), place.desired, place.live) && !(place.is_item() && place.is_one_sided());
    let owner = place.owners().first().copied();
    if is_same {
        return say(Verdict::Equal, owner, spelling(place));
    }
    if let Some(fault) = fault::find(place) {
        return say(Verdict::InvalidDesired, owner, fault);
    }
    if let Some(why) = fault::unreadable(place) {
        return say(Verdict::Unknown, owner, why);
    }
    let known = Known {
        place,
        owner,
        entry: owner.map(|i| &place.cx.entries[i]),
        is_ours: owner.is_some_and(|i| place.cx.own.contains(&i)),
        has_no_schema: place.cx.is_custom && !place.shape.is_known(),
        applied: applied(place),
    };
    let decision = rightly_so(&known).unwrap_or_else(|| changed(&known));
    with_package(place, decision)
}

/// What is no difference between what was asked for and what is: the server, a controller, or a default is behind it.
fn rightly_so(known: &Known<'_>) -> Option<Decision> {
    let Known { place, owner, entry, is_ours, .. } = *known;
    if phenomena::is_copy(place) {
        return Some(say(Verdict::Server, owner, "a copy of what was applied, kept by the tool that applied it"));
    }
    // A person who writes what the server would allocate has chosen it.
    let by_person = !is_ours && entry.is_some_and(|e| e.class == Class::Person);
    if let Some(why) = phenomena::by_server(place).filter(|_| !by_person) {
        return Some(say(Verdict::Server, owner, why));
    }
    if let Some(why) = phenomena::by_controller(place, entry) {
        return Some(say(Verdict::Controller, owner, why));
    }
    let is_default = place.desired.is_none() && place.applied.is_none() && defaults::is_default(place);
    is_default.then(|| say(Verdict::Defaulted, owner, "nobody asked for it; the value is the API's default"))
}

fn changed(known: &Known<'_>) -> Decision {
    let (place, owner) = (known.place, known.owner);
    if place.is_duplicate {
        return say(Verdict::Drift, owner, duplicate(place));
    }
    match place.desired {
        Some(_) => declared(known),
        None if known.applied == Applied::Live => {
            say(Verdict::Pending, owner, "it was applied and is no longer asked for; the next apply removes it")
        }
        None => extra(known),
    }
}

/// Without server-side apply Helm changes custom resources by what differs between two revisions of the chart, so it never sees what
/// somebody else did.
fn with_package(place: &Place<'_>, mut decision: Decision) -> Decision {
    let applies = place.cx.own.iter().any(|i| place.cx.entries[*i].operation == Operation::Apply);
    if decision.verdict == Verdict::Drift && place.cx.is_custom && !applies && helm::of(place.cx.live).is_some() {
        decision.reason.push_str("; helm upgrade will not put it back");
    }
    decision
}

fn say(verdict: Verdict, owner: Option<usize>, reason: impl Into<String>) -> Decision {
    Decision { verdict, owner, reason: reason.into() }
}

fn spelling(place: &Place<'_>) -> &'static str {
    match (place.desired, place.live) {
        (Some(d), _) if d.is_null() => "null is stored as absent",
        (Some(d), Some(_)) if d.is_array() => "reordered, or items in another spelling",
        (Some(_), Some(_)) => "the same value in another spelling",
        (None | Some(_), None | Some(_)) => "empty and absent mean the same here",
    }
}

fn duplicate(place: &Place<'_>) -> String {
    let same = match (place.desired_parent.and_then(|p| p.as_array()), place.live_parent.and_then(|p| p.as_array())) {
        (Some(desired), Some(live)) => {
            let item = place.live.or(place.desired);
            [desired, live].iter().any(|list| list.iter().filter(|other| Some(*other) == item).count() > 1)
        }
        _ => false,
    };
    if same { "duplicate key, same value".to_owned() } else { "duplicate key".to_owned() }
}

fn applied(place: &Place<'_>) -> Applied {
    if place.cx.applied.is_none() {
        return Applied::Unsaid;
    }
    let names = place.names();
    let agrees = |side| same(place.shape, names, place.applied, side);
    if agrees(place.desired) {
        Applied::Desired
    } else if agrees(place.live) || place.applied.is_none() && defaults::is_default(place) {
        Applied::Live
    } else {
        Applied::Neither
    }
}

/// Desired says something and live says something else, or nothing.
fn declared(known: &Known<'_>) -> Decision {
    let Known { place, owner, entry, is_ours, applied, .. } = *known;
    let gone = place.live.is_none();
    if applied == Applied::Live {
        let text = if gone { "declared and not applied yet" } else { "live is still what was last applied; desired is newer" };
        return say(Verdict::Pending, owner, text);
    }
    let also = if applied == Applied::Neither { "; what was last applied is a third value, so a change is pending as well" } else { "" };
    match entry {
        Some(entry) if is_ours && applied == Applied::Desired => say(
            Verdict::Admission,
            owner,
            format!("{} still owns the field although it applied another value: admission rewrote it", entry.manager),
        ),
        Some(entry) if is_ours => say(
            Verdict::Pending,
            owner,
            format!("only {} wrote the field: desired is newer than its last apply, or admission rewrote the value{also}", entry.manager),
        ),
        Some(entry) if entry.manager == "before-first-apply" && applied == Applied::Unsaid => {
            say(Verdict::Pending, owner, "the value is from before the first server-side apply, which has not reached this field")
        }
        Some(entry) => say(Verdict::Drift, owner, format!("{}{also}", wrote(entry))),
        None if phenomena::is_scaled_to_nothing(place) && !place.cx.entries.is_empty() => {
            say(Verdict::Drift, None, format!("{SCALED_TO_NOTHING}{also}"))
        }
        None if place.cx.entries.is_empty() && gone => {
            say(Verdict::Drift, None, format!("declared but absent; a removal leaves no trace{also}"))
        }
        None if place.cx.entries.is_empty() => {
            say(Verdict::Drift, None, format!("live differs; the object has no managedFields to say who wrote it{also}"))
        }
        None if gone && applied == Applied::Unsaid => say(
            Verdict::Drift,
            None,
            "declared but absent: somebody removed it, which leaves neither owner nor trace, or it was never applied",
        ),
        None if gone => say(Verdict::Drift, None, format!("declared but absent; a removal leaves neither owner nor trace{also}")),
        None => say(
            Verdict::Drift,
            None,
            format!("live differs and nobody owns the field: somebody removed it and a default or admission filled it again{also}"),
        ),
    }
}

/// Live says something that desired does not mention, and it was not applied as it stands.
fn extra(known: &Known<'_>) -> Decision {
    let Known { place, owner, is_ours, has_no_schema, .. } = *known;
    let Some(entry) = known.entry else {
        return by_nobody(known);
    };
    if place.applied.is_some() {
        let verdict = if is_ours { Verdict::Pending } else { Verdict::Drift };
        return say(verdict, owner, format!("{}; what was applied is no longer asked for", wrote(entry)));
    }
    let creates =
        entry.operation == Operation::Update && managers::declares(entry.manager, entry.operation) || entry.manager == "before-first-apply";
    if let Some(whole) = place.whole.filter(|whole| is_ours && !(has_no_schema && creates) && whole.desired.is_some()) {
        return in_whole(known, entry, whole);
    }
    match entry.class {
        _ if is_ours && entry.operation == Operation::Apply => {
            say(Verdict::Pending, owner, format!("{} applied it and desired no longer has it; the next apply removes it", entry.manager))
        }
        _ if (is_ours || creates) && has_no_schema => say(
            Verdict::Defaulted,
            owner,
            format!("written when {} created the object, most likely by a default of its schema", entry.manager),
        ),
        _ if is_ours || creates => {
            say(Verdict::Drift, owner, format!("orphaned ownership: {} set it once and nothing asks for it any more", entry.manager))
        }
        Class::Person => say(Verdict::Drift, owner, hand(place, entry)),
        Class::GitOps | Class::Package => say(Verdict::Drift, owner, wrote(entry)),
        Class::Controller | Class::Injector | Class::Unknown | Class::Bookkeeping => foreign(known, entry),
    }
}

/// Something more in a list or map that has one owner: ours, or another actor would own the whole now.
fn in_whole(known: &Known<'_>, entry: &Entry<'_>, whole: Whole<'_>) -> Decision {
    let (name, owner) = (entry.manager, known.owner);
    if known.has_no_schema {
        return say(
            Verdict::Unknown,
            owner,
            format!("in a list that {name} owns: a default, admission or a change; the schema of the kind would tell"),
        );
    }
    if whole.was_applied() {
        return say(
            Verdict::Admission,
            owner,
            format!("{name} still owns the whole although it applied it without this: admission added it"),
        );
    }
    say(Verdict::Pending, owner, format!("only {name} wrote the whole: desired is newer than its last apply, or admission added this"))
}

fn by_nobody(known: &Known<'_>) -> Decision {
    let place = known.place;
    let bare = place.cx.entries.is_empty();
    if place.applied.is_some() {
        return say(Verdict::Drift, None, "live differs from what was applied, and it is no longer asked for");
    }
    if place.path.last() == "caBundle" {
        return say(Verdict::Drift, None, "a certificate authority that no known injector wrote and no annotation asks for");
    }
    if place.path.fields().eq(["spec", "replicas"]) {
        let text = if phenomena::is_scaled_to_nothing(place) { SCALED_TO_NOTHING } else { UNTRACED_SCALE };
        return say(Verdict::Drift, None, text);
    }
    if let Some(why) = admitted::by(place).filter(|_| bare) {
        return say(Verdict::Admission, None, why);
    }
    if bare && admitted::may_be_injected(place) {
        return say(Verdict::Unknown, None, NOT_SHOWN_TO_BE_INJECTED);
    }
    match (bare, known.has_no_schema) {
        (true, true) => {
            say(Verdict::Unknown, None, "a default of the schema or a change: neither managedFields nor the schema of the kind is at hand")
        }
        (true, false) => say(Verdict::Drift, None, "in no source; the object has no managedFields to say who wrote it"),
        (false, true) => say(Verdict::Unknown, None, "nobody owns it: a default or admission; the schema of the kind would tell"),
        (false, false) => say(Verdict::Admission, None, "nobody owns it and it is no default: a webhook or an admission plugin added it"),
    }
}

const NOT_SHOWN_TO_BE_INJECTED: &str =
    "injectors of sidecars give it, and nothing here shows that one was at work; managedFields would tell whether somebody set it";

/// Seen on 1.37: a request through the scale subresource gets no entry in managedFields where nobody owned replicas before.
const UNTRACED_SCALE: &str = "scaled through the scale subresource, which leaves no trace where nobody owned the field: by hand, or by an \
                              autoscaler that is not among the objects at hand";

/// Seen on 1.37: `Scale` leaves out a 0, so a request for no replicas takes the field from its owner and gives it to nobody.
const SCALED_TO_NOTHING: &str = "scaled to 0 through the scale subresource, which leaves no owner for a 0: by hand, or by an autoscaler \
                                 that is not among the objects at hand";

fn foreign(known: &Known<'_>, entry: &Entry<'_>) -> Decision {
    let (place, owner) = (known.place, known.owner);
    let class = risk::class(place);
    if place.is_metadata() && !class.is_some_and(risk::Class::guards_metadata) {
        let known = if entry.class == Class::Unknown { "unidentified controller" } else { "controller" };
        return say(Verdict::Controller, owner, format!("{known} {} added it", entry.manager));
    }
    if place.cx.is_custom && !class.is_some_and(risk::Class::is_risky) {
        return say(Verdict::Unknown, owner, format!("{} wrote it: whether that is the operator of this kind is not known", entry.manager));
    }
    say(Verdict::Drift, owner, wrote(entry))
}

fn hand(place: &Place<'_>, entry: &Entry<'_>) -> String {
    if place.path.last() == "kubectl.kubernetes.io/restartedAt" {
        return format!("{} restarted the pods; removing the annotation restarts them again", entry.manager);
    }
    wrote(entry)
}

/// Who wrote, in words; a manager's time is that of its last write, the field may be older.
fn wrote(entry: &Entry<'_>) -> String {
    let place = if entry.subresource.is_empty() { String::new() } else { format!(" through {}", entry.subresource) };
    let who = match entry.class {
        Class::Person if entry.manager == "node-fetch" => "Lens (node-fetch) wrote it".to_owned(),
        Class::Person if entry.subresource == "scale" => format!("somebody scaled it by hand with {}", entry.manager),
        Class::Person => format!("{} wrote it{place}, a tool that people use", entry.manager),
        Class::GitOps | Class::Package => format!("second applier: {} wrote it", entry.manager),
        Class::Controller | Class::Injector => format!("{} wrote it, not a field that it is known to keep", entry.manager),
        Class::Bookkeeping => format!("an earlier manager wrote it ({})", entry.manager),
        Class::Unknown if entry.operation == Operation::Apply => format!("second applier: {} applied it on the server", entry.manager),
        Class::Unknown => format!("{} wrote it, an unidentified program", entry.manager),
    };
    if entry.time.is_empty() { who } else { format!("{who}, at or before {}", entry.time) }
}
