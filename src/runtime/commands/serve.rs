//! `holdup serve FILE`: an archive as a read-only Kubernetes API on loopback, until it is stopped.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use color_eyre::{Result, eyre::Context, eyre::eyre};
use tokio::net::TcpListener;

use super::print;
use crate::archive::{Archive, Input, serve};
use crate::cli::Serve;
use crate::runtime::key;

pub(super) async fn run(args: &Serve) -> Result<ExitCode> {
    let inputs: Vec<Input> =
        args.files.iter().map(|path| if path == Path::new("-") { Input::Stdin } else { Input::Path(path.clone()) }).collect();
    let archive = Arc::new(Archive::open(&inputs).map_err(|error| eyre!("{error}"))?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await;
    let listener = listener
        .wrap_err_with(|| format!("port {} on loopback cannot be had; choose another with --port, or 0 for a free one", args.port))?;
    let address = listener.local_addr()?;
    print(&format!("serving on http://{address} until ctrl-c; kubectl --server http://{address} get pods -A\n"))?;
    tokio::select! {
        ended = serve(archive.redacted_service(key::redactor()), listener) => ended?,
        _ = tokio::signal::ctrl_c() => {}
    }
    Ok(ExitCode::SUCCESS)
}
