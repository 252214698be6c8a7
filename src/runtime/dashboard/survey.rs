//! The reading for the drift screen: a survey beside the loop, told piece by piece. Helm's records stay closed unless the user asked.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::Dashboard;
use crate::app::{Msg, Progress, Records, Standing, Surveyed};
use crate::archive::Archive;
use crate::desired::{Census, FieldDiff, Identity, Unchecked, Weight};
use crate::export::diff::Compared;
use crate::model::Place;
use crate::redact::Redactor;
use crate::runtime::around::RELEASE;
use crate::runtime::fetch::Store;
use crate::runtime::reader::{self, Reader};
use crate::runtime::rulings::Rulings;
use crate::runtime::survey::{self, At, Narrow, Step, Survey};
use crate::watch::{Connection, discover};

/// What a survey is made with.
struct Errand {
    connection: Connection,
    /// `None`: a cluster.
    archive: Option<Arc<Archive>>,
    patience: std::time::Duration,
    redactor: Arc<Redactor>,
    rulings: Rulings,
    records: Records,
    narrow: Narrow,
}

impl Dashboard {
    /// Instead of the one under way.
    pub(super) fn survey(&mut self, run: u32, records: Records) {
        self.stop_survey();
        let answer = self.events.answers();
        let tell = Teller { run, answer };
        match self.errand(records) {
            Ok(errand) => self.behind.survey = Some(tokio::spawn(go(errand, tell))),
            Err(why) => tell.tell(Surveyed::Failed(why)),
        }
    }

    pub(super) fn stop_survey(&mut self) {
        if let Some(survey) = self.behind.survey.take() {
            survey.abort();
        }
    }

    fn errand(&self, records: Records) -> Result<Errand, String> {
        let rulings = Rulings::read(&self.behind.decided.decisions());
        let rulings = rulings.map_err(|error| format!("the accept rules or the baseline cannot be read: {error:#}"))?;
        let (connection, archive, patience) = match &self.behind.store {
            Store::Cluster(cluster) => (cluster.connection.clone(), None, cluster.patience),
            Store::Files(archive) => (survey::connection(archive), Some(archive.clone()), crate::runtime::live::PATIENCE),
        };
        let narrow = Narrow { places: self.places(&connection), labels: String::new(), fields: String::new(), related: Vec::new() };
        let rulings = rulings.judging_at(Some(self.picture.now()));
        Ok(Errand { connection, archive, patience, redactor: self.behind.redactor.clone(), rulings, records, narrow })
    }

    /// What the dashboard looks at: namespaces that were chosen, the one that may be seen, or all.
    fn places(&self, connection: &Connection) -> Vec<Place> {
        let chosen = self.picture.app.namespaces.as_ref();
        match (chosen, &self.picture.status.scope) {
            (Some(chosen), _) => chosen.iter().map(|name| Place::Namespace(name.as_str().into())).collect(),
            (None, Some(_)) => vec![Place::Namespace(connection.about().namespace.as_str().into())],
            (None, None) => vec![Place::All],
        }
    }
}

struct Teller {
    run: u32,
    answer: UnboundedSender<Msg>,
}

impl Teller {
    fn tell(&self, surveyed: Surveyed) {
        let _ = self.answer.send(Msg::Surveyed { run: self.run, surveyed });
    }
}

async fn go(errand: Errand, teller: Teller) {
    let Errand { connection, archive, patience, redactor, rulings, records, narrow } = errand;
    let about = match &archive {
        Some(archive) => Some(archive.about().clone()),
        None => survey::served(&connection, patience).await,
    };
    let offers = match discover(&connection, patience).await {
        Ok(offers) => Arc::new(offers),
        Err(error) => return teller.tell(Surveyed::Failed(error.to_string())),
    };
    let mut reader = Reader::new(connection, patience, redactor, offers);
    reader.rulings = rulings;
    reader.rulings.tags = about.as_ref().and_then(|about| about.tags.clone());
    reader.records = match records {
        Records::Closed => reader::Records::Left,
        Records::Opened => reader::Records::Opened,
    };
    let doubt = |object: &Identity| about.as_ref().and_then(|about| survey::doubt_of(about, object));
    about.iter().flat_map(survey::unread_of).for_each(|unread| teller.tell(Surveyed::Unread(unread)));
    let mut census = Census::default();
    let mut is_sealed = false;
    let mut tell = |step: Step| match step {
        Step::At(At { kind, read, of, objects }) => teller.tell(Surveyed::At(Progress { kind, read, of, objects })),
        Step::Compared(compared) => teller.tell(Surveyed::Object(Box::new(standing(*compared)))),
        Step::Unread(unread) => {
            let is_release = records == Records::Closed && unread.kind == RELEASE;
            if is_release && !std::mem::replace(&mut is_sealed, true) {
                teller.tell(Surveyed::Sealed);
            }
            teller.tell(Surveyed::Unread(unread));
        }
    };
    Survey::new(&mut reader, &narrow, &mut census, &doubt, &mut tell).run().await;
    teller.tell(Surveyed::Done(Box::new(census.close())));
}

/// In short: of a large cluster not every difference can be kept.
fn standing(compared: Compared) -> Standing {
    let Compared { diff, source, unchecked, .. } = compared;
    let weight = Weight::of(&diff.fields);
    let object = diff.object.to_string();
    let telling = |field: &&FieldDiff| !field.verdict.is_quiet() || field.is_weaker();
    let count = diff.fields.iter().filter(telling).count();
    let worst = diff.fields.into_iter().filter(|field| telling(&field)).min_by_key(|field| Weight::of(std::slice::from_ref(field)));
    let unchecked = unchecked.first().map(Unchecked::to_string);
    Standing { object, source: source.map_or(String::new(), |said| said.title), weight, telling: count, worst: worst.map(short), unchecked }
}

/// A value of which a line shows a part.
const LONGEST: usize = 400;

fn short(mut field: FieldDiff) -> FieldDiff {
    for side in [&mut field.desired, &mut field.live].into_iter().flatten() {
        if matches!(side, Value::Array(_) | Value::Object(_)) && side.to_string().len() > LONGEST {
            *side = Value::from("…");
        }
        if let Value::String(text) = side
            && text.chars().count() > LONGEST
        {
            *text = text.chars().take(LONGEST).chain(['…']).collect();
        }
    }
    field
}
