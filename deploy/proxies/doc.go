// Package proxies tests the examples of proxies in deploy/ with the programs that they are for. It is a module of its
// own, outside of the workspace, since make test must not depend on nginx, HAProxy and Caddy; .ci/run proxies installs
// them and runs it.
package proxies
