//! The yardstick of others: pods in a reflector of kube, each as the `Pod` of k8s-openapi, in pages of 500.

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use serde_json::{Value, json};

use crate::{clock, drain::millis};

/// Fills a reflector with all pods, and says what that used.
pub fn reflect(url: &str) -> Result<Value, String> {
    let began = clock::monotonic();
    let tasks = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let pods = tasks.block_on(async { tokio::spawn(filled(url.to_owned())).await.map_err(|error| error.to_string())? })?;
    let wall = clock::monotonic().saturating_sub(began);
    Ok(json!({"pods": pods, "cpu_ms": millis(clock::cpu()), "wall_ms": millis(wall), "peak_kb": clock::peak_kb("self")}))
}

async fn filled(url: String) -> Result<usize, String> {
    let url: http::Uri = url.parse().map_err(|_| format!("{url} is no address"))?;
    let client = kube::Client::try_from(kube::Config::new(url)).map_err(|error| error.to_string())?;
    let (store, writer) = reflector::store();
    let listed = watcher(kube::Api::<Pod>::all(client), watcher::Config::default().page_size(500));
    let mut events = std::pin::pin!(listed.reflect(writer));
    while let Some(event) = events.next().await {
        if let watcher::Event::InitDone = event.map_err(|error| error.to_string())? {
            return Ok(store.len());
        }
    }
    Err("the watch ended before the list was complete".to_owned())
}
