//! Requests to the API server as its administrator: whatever a kubelet, a drain or a look at the plane needs.

use http::{Method, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;

pub struct Api {
    runtime: Runtime,
    client: kube::Client,
}

const PATIENCE: Duration = Duration::from_secs(10);

impl Api {
    pub fn connect(kubeconfig: &Path) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let client = runtime.block_on(async {
            let file = Kubeconfig::read_from(kubeconfig).expect("our own kubeconfig");
            let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
            kube::Client::try_from(config.expect("our own kubeconfig")).expect("a client")
        });
        Self { runtime, client }
    }

    pub fn get(&self, path: &str) -> Result<Value, String> {
        self.ask(Method::GET, path, "application/json", Vec::new())
    }

    pub fn text(&self, path: &str) -> Result<String, String> {
        let request = request(Method::GET, path, "application/json", Vec::new());
        let answer = async { tokio::time::timeout(PATIENCE, self.client.request_text(request)).await };
        self.runtime.block_on(answer).map_err(|_| format!("no answer to GET {path}"))?.map_err(|e| format!("GET {path}: {e}"))
    }

    /// A merge patch.
    pub fn patch(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.ask(Method::PATCH, path, "application/merge-patch+json", body.to_string().into_bytes())
    }

    /// The whole object, as it was read and changed.
    pub fn replace(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.ask(Method::PUT, path, "application/json", body.to_string().into_bytes())
    }

    pub fn create(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.ask(Method::POST, path, "application/json", body.to_string().into_bytes())
    }

    pub fn delete(&self, path: &str) -> Result<Value, String> {
        self.ask(Method::DELETE, path, "application/json", Vec::new())
    }

    /// What a kubelet does when the last container of a pod being deleted has ended.
    pub fn delete_at_once(&self, path: &str) -> Result<Value, String> {
        self.delete(&format!("{path}?gracePeriodSeconds=0"))
    }

    fn ask(&self, method: Method, path: &str, content: &str, body: Vec<u8>) -> Result<Value, String> {
        let what = format!("{method} {path}");
        let request = request(method, path, content, body);
        let answer = async { tokio::time::timeout(PATIENCE, self.client.request::<Value>(request)).await };
        self.runtime.block_on(answer).map_err(|_| format!("no answer to {what}"))?.map_err(|e| format!("{what}: {e}"))
    }
}

fn request(method: Method, path: &str, content: &str, body: Vec<u8>) -> Request<Vec<u8>> {
    Request::builder().method(method).uri(path).header("Content-Type", content).body(body).expect("a well-formed request")
}

/// The items of a list, none where there is no such field.
pub fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}
