#!/usr/bin/env bash
# Builds the programs of a Kubernetes control plane, and Helm's client, from the module folders beside this file, each once.
#
#   build.sh            builds what is not there yet and prints one line a program
#   build.sh --where    prints `PROGRAM PATH` for each program and builds nothing
#
# They are kept outside the checkout, in a folder named after the module and a hash of its go.mod, its go.sum and this
# file: whatever changes the programs changes the folder, and a fresh clone finds what an older one has built.
# HOLDUP_CONTROL_PLANE names another place for these folders. Needs Go and nothing else; no root, no C compiler.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
store=${HOLDUP_CONTROL_PLANE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdup-control-plane}
kubernetes=v1.37.2

# program, module folder, package
programs="etcd                     etcd  go.etcd.io/etcd/server/v3
kube-apiserver           k8s   k8s.io/kubernetes/cmd/kube-apiserver
kube-controller-manager  k8s   k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler           k8s   k8s.io/kubernetes/cmd/kube-scheduler
kubectl                  k8s   k8s.io/kubernetes/cmd/kubectl
helm                     helm  helm.sh/helm/v4/cmd/helm"

digest() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }

folder() { # MODULE
  local hash
  hash=$(cat "$here/modules/$1/go.mod" "$here/modules/$1/go.sum" "$here/build.sh" | digest)
  echo "$store/$1-${hash:0:16}"
}

# Without this stamp the programs call themselves v0.0.0-master, and clients choose by that version what they may ask.
stamp() {
  local package=k8s.io/component-base/version minor=${kubernetes#v1.}
  printf -- '-X %s.%s ' "$package" "gitVersion=$kubernetes" "$package" gitMajor=1 "$package" "gitMinor=${minor%%.*}" \
    "$package" gitTreeState=clean "$package" gitCommit=0000000 "$package" buildDate=2026-01-01T00:00:00Z
}

need_go() {
  command -v go >/dev/null && return
  echo "build.sh: there is no \`go\` in PATH. The control plane is built from Go modules: install Go 1.26 or newer" \
    "(https://go.dev/doc/install), or any Go from 1.21 on that may fetch the toolchain named in go.mod." >&2
  exit 2
}

build() { # PROGRAM MODULE PACKAGE
  local target start=$SECONDS
  target=$(folder "$2")/$1
  [ -x "$target" ] && { echo "$1: there"; return; }
  need_go
  mkdir -p "${target%/*}"
  # Built under a name of its own and moved: an interrupted build leaves no half program behind.
  (cd "$here/modules/$2" &&
    CGO_ENABLED=0 GOWORK=off GOFLAGS='-mod=readonly -buildvcs=false' \
      go build -trimpath -ldflags "-s -w $(stamp)" -o "$target.$$" "$3")
  mv "$target.$$" "$target"
  echo "$1: $((SECONDS - start)) s"
}

case "${1:-}" in
  --where) while read -r program module _; do echo "$program $(folder "$module")/$program"; done <<<"$programs" ;;
  '') while read -r program module package; do build "$program" "$module" "$package" </dev/null; done <<<"$programs" ;;
  *) echo "build.sh: unknown argument $1; it takes none, or --where" >&2; exit 2 ;;
esac
