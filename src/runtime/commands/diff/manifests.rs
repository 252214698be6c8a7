//! Manifests that the user names: files, folders, what kustomize makes of a folder, standard input.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use color_eyre::Result;
use color_eyre::eyre::{WrapErr, bail};
use serde_json::Value;

use crate::desired::{Object, manifest};
use crate::export::clean;
use crate::redact::Redactor;

/// What manifests declare, of each object what is said last: that is what applying them in turn leaves.
pub fn declared(paths: &[PathBuf], redactor: &Redactor) -> Result<Vec<(String, Object)>> {
    let mut all: Vec<(String, Object)> = Vec::new();
    let mut places = BTreeMap::new();
    for (file, object) in objects(paths)? {
        let object = Object::new(object, redactor);
        let identity = object.identity();
        match places.get(&identity).and_then(|at: &usize| all.get_mut(*at)) {
            // What has no name yet is another object each time it is created.
            Some(earlier) if !identity.name.is_empty() => {
                eprintln!(
                    "holdup: {}",
                    clean(&format!("{identity} is declared in {} and again in {file}: what is said last counts.", earlier.0))
                );
                *earlier = (file, object);
            }
            Some(_) | None => {
                places.insert(identity, all.len());
                all.push((file, object));
            }
        }
    }
    // A pipe whose first half failed must not look like a cluster without drift.
    if let (true, Some(path)) = (all.is_empty(), paths.first()) {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        bail!("{name} declares nothing: it holds no Kubernetes object; look at what should have written it");
    }
    Ok(all)
}

/// The objects of files, folders and standard input, each with the name of its file.
pub fn objects(paths: &[PathBuf]) -> Result<Vec<(String, Value)>> {
    let mut all = Vec::new();
    for (name, text) in paths.iter().map(|path| texts(path)).collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        let found = manifest::read(&text);
        if found.objects.is_empty() && !found.odd.is_empty() {
            bail!("{name} holds no Kubernetes object: line {} {}", found.odd[0].0, found.odd[0].1);
        }
        for (line, why) in found.odd {
            eprintln!("holdup: {}", clean(&format!("{name}:{line} {why}; it is left out.")));
        }
        all.extend(found.objects.into_iter().map(|object| (name.clone(), object)));
    }
    Ok(all)
}

/// What a path leads to: a folder with a kustomization is what kubectl builds of it.
fn texts(path: &Path) -> Result<Vec<(String, String)>> {
    if KUSTOMIZATIONS.iter().any(|name| path.join(name).is_file()) {
        return Ok(vec![(format!("kustomization {}", path.display()), built(path)?)]);
    }
    members(path)?.iter().map(|file| text(file)).collect()
}

/// The names under which kustomize looks for what to build.
const KUSTOMIZATIONS: &[&str] = &["kustomization.yaml", "kustomization.yml", "Kustomization"];

fn built(folder: &Path) -> Result<String> {
    let shown = folder.display();
    let elsewhere = format!("build it where that is possible: kustomize build {shown} | holdup diff -f -");
    let output = match Command::new("kubectl").arg("kustomize").arg(folder).stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            bail!("{shown} is a kustomization, and kubectl, which builds it, is not in PATH; {elsewhere}")
        }
        Err(error) => return Err(error).wrap_err_with(|| format!("{shown} is a kustomization, and kubectl cannot be started")),
    };
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("kubectl kustomize {shown} failed: {}; {elsewhere}", why.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn text(file: &Path) -> Result<(String, String)> {
    let mut bytes = Vec::new();
    let name = if file == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).wrap_err("standard input cannot be read")?;
        "standard input".to_owned()
    } else {
        bytes = std::fs::read(file).wrap_err_with(|| format!("{} cannot be read", file.display()))?;
        file.display().to_string()
    };
    Ok((name, String::from_utf8_lossy(&bytes).into_owned()))
}

/// A file is itself; of a folder its manifests, in order.
fn members(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).wrap_err_with(|| format!("{} cannot be read", path.display()))? {
        let path = entry?.path();
        let is_manifest = path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json");
        if path.is_dir() {
            found.extend(members(&path)?);
        } else if is_manifest {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
