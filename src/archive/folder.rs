//! Which files of a folder count: those of a `kubectl cluster-info dump`, of a must-gather, or just JSON and YAML.

use std::io;
use std::path::{Path, PathBuf};

use super::Previous;

/// A file of a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub path: PathBuf,
    pub role: Role,
}

/// What a file of a folder holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Objects, or logs with the marks that a dump puts around them. The folder may stand for a namespace.
    Objects { namespace: Option<String> },
    /// The log of one container, as a must-gather keeps it.
    Log { namespace: String, pod: String, container: String, previous: Previous },
}

/// The files below a folder that count, in the order of their paths. What cannot be listed is left out.
pub(super) fn members(folder: &Path) -> io::Result<Vec<Member>> {
    let mut members = Vec::new();
    collect(folder, folder, &mut members)?;
    members.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(members)
}

fn collect(root: &Path, folder: &Path, members: &mut Vec<Member>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        // Links to folders are not followed: they may lead around in a circle.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(root, &path, members).unwrap_or_default(),
            Ok(_) if path.is_file() => members.extend(role(root, &path).map(|role| Member { path, role })),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn role(root: &Path, path: &Path) -> Option<Role> {
    let parts: Vec<&str> = path.strip_prefix(root).ok()?.iter().filter_map(|part| part.to_str()).collect();
    let name = path.file_name()?.to_str()?;
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    if let [.., "namespaces", namespace, "pods", pod, container, _, "logs", _] = parts[..] {
        let previous = match plain {
            "current.log" => Previous::No,
            "previous.log" => Previous::Yes,
            _ => return None,
        };
        let owned = str::to_owned;
        return Some(Role::Log { namespace: owned(namespace), pod: owned(pod), container: owned(container), previous });
    }
    let holds_objects = [".json", ".yaml", ".yml", ".jsonl", ".ndjson"].iter().any(|end| plain.ends_with(end));
    (holds_objects || plain == "logs.txt").then(|| Role::Objects { namespace: namespace(&parts) })
}

/// `namespaces/shop/apps/deployments.yaml` in a must-gather, `shop/deployments.json` in a dump.
fn namespace(parts: &[&str]) -> Option<String> {
    let after = parts.iter().position(|part| *part == "namespaces").map(|at| at + 1);
    let namespace = match (after, parts) {
        (Some(at), _) => parts.get(at).filter(|_| at + 1 < parts.len()),
        (None, [.., folder, _]) => Some(folder),
        (None, _) => None,
    };
    namespace.map(|namespace| (*namespace).to_owned())
}
