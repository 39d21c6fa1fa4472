// Package browsertest looks at the account area as people do: in Chromium. Its tests go through what
// users and operators come for, and look at every page in light and dark, wide and narrow; axe-core
// judges whether all can use it. It is a module of its own, outside of the workspace, so that
// nobody else downloads what drives the browser.
//
// The tests need Chromium, found by the PATH or named by the environment variable CHROMIUM, and fail
// without it. To see the pages:
//
//	GOWORK=off go test ./... -run TestPages -screenshots /tmp/pages [-pages 'playground|users']
//
// Three of them are shown by the documentation. They are made anew with
//
//	GOWORK=off go test ./... -run TestPages -illustrations ../../../docs
package browsertest
