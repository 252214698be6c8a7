//! The room that talks to the cluster, against a small mock API server on loopback and services in this process.

mod split;
