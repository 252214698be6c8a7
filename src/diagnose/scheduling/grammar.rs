//! Grammar: the text of an unschedulable pod taken apart. It never says what is so, only what the scheduler wrote.

use super::Obstacle;

/// What the scheduler wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<'a> {
    /// `no nodes available to schedule pods`.
    NoNodes,
    /// `0/N nodes are available: …`.
    Unfit(Unfit<'a>),
    /// Anything else: an error of a plugin, another scheduler's words.
    Other(&'a str),
}

/// `0/N nodes are available: …`, without what preemption thinks of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unfit<'a> {
    /// All nodes the scheduler knew, cordoned and broken ones too. Old texts count past it.
    pub nodes: u32,
    /// One sentence for all nodes, or counted reasons. Each node is counted under the first plugin that refused it.
    pub reasons: Vec<Reason<'a>>,
    /// What preemption or device allocation added.
    pub after: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason<'a> {
    /// Nodes; all of them for a sentence without a count.
    pub count: u32,
    pub obstacle: Obstacle,
    pub text: &'a str,
}

/// What begins the part that preemption and device allocation add. They say nothing about the cause.
const AFTER: &[&str] = &[
    "preemption: ",
    "pod group preemption: ",
    "no new claims to deallocate",
    "still not schedulable",
    "deallocation of resourceclaim",
    "deletion of resourceclaim",
    "plugin disabled",
    "not found",
];

/// Takes a message apart; what it does not know is kept whole.
pub fn parse(message: &str) -> Message<'_> {
    let text = message.trim();
    if text.eq_ignore_ascii_case("no nodes available to schedule pods") {
        return Message::NoNodes;
    }
    unfit(text).map_or(Message::Other(text), Message::Unfit)
}

impl Unfit<'_> {
    /// Whether some reason means this.
    pub fn mentions(&self, found: impl Fn(&Obstacle) -> bool) -> bool {
        self.reasons.iter().any(|r| found(&r.obstacle))
    }

    /// Nodes that have the room only once pods of lower priority are gone, and there are none: they lack nothing but room.
    pub fn without_victims(&self) -> Option<u32> {
        let (_, rest) = self.after.split_once("nodes are available:")?;
        split(rest).into_iter().find(|(_, text)| text.starts_with("No preemption victims")).and_then(|(count, _)| count)
    }
}

fn unfit(text: &str) -> Option<Unfit<'_>> {
    let (head, rest) = text.split_once("nodes are available")?;
    let nodes = head.trim().strip_prefix("0/")?.trim().parse().ok()?;
    let rest = rest.trim_start_matches([':', '.']).trim_start();
    let (body, after) = cut(rest);
    let reasons =
        split(body).into_iter().map(|(count, text)| Reason { count: count.unwrap_or(nodes), obstacle: Obstacle::read(text), text });
    Some(Unfit { nodes, reasons: reasons.collect(), after })
}

/// Reasons, and what follows them: cut where a sentence ends and a known addition begins.
fn cut(text: &str) -> (&str, &str) {
    let lower = text.to_ascii_lowercase();
    let begins = |at: usize| AFTER.iter().any(|a| lower[at..].starts_with(a) && (*a != "not found" || lower[at..].len() <= a.len() + 1));
    if begins(0) {
        return ("", text);
    }
    let ends = lower.match_indices(". ").map(|(at, _)| at).find(|at| begins(at + 2));
    let (body, after) = ends.map_or((text, ""), |at| (&text[..at], &text[at + 2..]));
    (body.trim_end_matches(['.', ' ']), after)
}

/// Splits before each `, <number> ` outside braces and quotes: some reasons hold commas themselves.
fn split(body: &str) -> Vec<(Option<u32>, &str)> {
    let body = body.trim().trim_end_matches('.');
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quoted) = (0, 0_i32, false);
    for (at, c) in body.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => quoted = !quoted,
            ',' if depth <= 0 && !quoted && counted(&body[at + 1..]).is_some() => {
                parts.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&body[start..]);
    parts.into_iter().filter(|p| !p.trim().is_empty()).map(|p| counted(p).map_or((None, p.trim()), |(n, text)| (Some(n), text))).collect()
}

/// `12 reason`: the number and the reason.
fn counted(text: &str) -> Option<(u32, &str)> {
    let (count, rest) = text.trim_start().split_once(' ')?;
    Some((count.parse().ok()?, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(message: &str) -> Vec<(u32, Obstacle)> {
        match parse(message) {
            Message::Unfit(unfit) => unfit.reasons.into_iter().map(|r| (r.count, r.obstacle)).collect(),
            Message::NoNodes | Message::Other(_) => Vec::new(),
        }
    }

    fn taint(text: &str) -> Obstacle {
        Obstacle::Taint(Some(text.into()))
    }

    #[test]
    fn counted_reasons_are_split_where_the_next_count_begins() {
        let text = "0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 Insufficient cpu. \
                    preemption: 0/5 nodes are available: 1 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod.";
        assert_eq!(reasons(text), [(1, taint("node-role.kubernetes.io/control-plane:")), (4, Obstacle::Resource("cpu".into()))]);
        let Message::Unfit(unfit) = parse(text) else { panic!("a fit error") };
        assert_eq!(unfit.without_victims(), Some(4));
    }

    #[test]
    fn old_spellings_mean_the_same() {
        let text = "0/6 nodes are available: 3 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, \
                    3 node(s) had taint {node.cloudprovider.kubernetes.io/uninitialized: true}, that the pod didn't tolerate.";
        assert_eq!(
            reasons(text),
            [(3, taint("node-role.kubernetes.io/master:")), (3, taint("node.cloudprovider.kubernetes.io/uninitialized: true"))]
        );
        let text = "0/3 nodes are available: 3 node(s) didn't match pod affinity/anti-affinity, 3 node(s) didn't satisfy existing pods anti-affinity rules.";
        assert_eq!(reasons(text), [(3, Obstacle::EitherAffinity), (3, Obstacle::AntiAffinity)]);
        assert_eq!(reasons("0/3 nodes are available: 3 pod has unbound immediate PersistentVolumeClaims."), [(3, Obstacle::ClaimUnbound)]);
    }

    #[test]
    fn a_sentence_without_a_count_holds_for_all_nodes() {
        let text = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found";
        assert_eq!(reasons(text), [(3, Obstacle::ClaimUnbound)]);
        let text = r#"0/3 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."#;
        assert_eq!(reasons(text), [(3, Obstacle::ClaimMissing)]);
    }

    #[test]
    fn what_device_allocation_adds_is_no_reason() {
        let text = "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) had untolerated taint(s). \
                    no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
        assert_eq!(reasons(text), [(1, Obstacle::VolumeAffinity), (1, Obstacle::Taint(None))]);
        assert!(reasons("0/3 nodes are available: preemption: not eligible due to preemptionPolicy=Never.").is_empty());
    }

    #[test]
    fn the_words_of_each_plugin_are_known() {
        for (text, obstacle) in [
            ("node(s) were unschedulable", Obstacle::Cordon),
            ("node(s) didn't match Pod's node affinity/selector", Obstacle::NodeAffinity),
            ("node(s) didn't match scheduler-enforced node affinity", Obstacle::NodeAffinity),
            ("node(s) didn't satisfy plugin(s) [NodeAffinity]", Obstacle::NodeAffinity),
            ("node(s) didn't match node selector", Obstacle::NodeAffinity),
            ("node(s) didn't have free ports for the requested pod ports", Obstacle::Port),
            ("Insufficient nvidia.com/gpu", Obstacle::Resource("nvidia.com/gpu".into())),
            ("Insufficient example.com/FPGA", Obstacle::Resource("example.com/FPGA".into())),
            ("Too many pods", Obstacle::Pods),
            ("node(s) had volume node affinity conflict", Obstacle::VolumeAffinity),
            ("node(s) had no available volume zone", Obstacle::VolumeAffinity),
            ("node(s) didn't find available persistent volumes to bind", Obstacle::NoVolume),
            ("node(s) did not have enough free storage", Obstacle::StorageCapacity),
            ("node(s) exceed max volume count", Obstacle::VolumeLimit),
            ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode", Obstacle::VolumeInUse),
            ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", Obstacle::LostVolume),
            ("node(s) didn't match pod topology spread constraints", Obstacle::Spread),
            ("node(s) didn't match pod topology spread constraints (missing required label)", Obstacle::SpreadLabel),
            ("node(s) didn't match pod affinity rules", Obstacle::PodAffinity),
            ("node(s) didn't match pod anti-affinity rules", Obstacle::AntiAffinity),
            ("node(s) didn't satisfy existing pods anti-affinity rules", Obstacle::AntiAffinity),
            ("cannot allocate all claims", Obstacle::Devices),
            ("node(s) didn't match Pod's required features", Obstacle::Features),
            ("node(s) had untolerated taint(s)", Obstacle::Taint(None)),
            ("node(s) disliked the weather", Obstacle::Unknown),
        ] {
            assert_eq!(Obstacle::read(text), obstacle, "{text}");
        }
    }

    #[test]
    fn what_is_no_fit_error_is_kept_whole() {
        assert_eq!(parse("no nodes available to schedule pods"), Message::NoNodes);
        assert_eq!(parse("running Bind plugin: no"), Message::Other("running Bind plugin: no"));
        assert_eq!(parse("0/ü nodes are available: x"), Message::Other("0/ü nodes are available: x"));
        for odd in [
            "",
            "0/3 nodes are available",
            "0/3 nodes are available: 1",
            "0/1 nodes are available: ,,, 4 ",
            "0/2 nodes are available: {, 1 x",
        ] {
            parse(odd);
        }
    }
}
