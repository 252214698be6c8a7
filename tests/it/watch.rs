//! The room that talks to the cluster, against a small mock API server on loopback and services in this process.

mod archives;
mod certs;
mod discovery;
mod feed;
mod feeds;
mod fetch;
mod follow;
mod home;
mod kubeconfig;
mod login;
mod messages;
mod mock;
mod plugins;
mod proxies;
mod pulse;
mod split;
mod tls;
