// Package movetest moves between every two storages. It is a package of its own because
// what tests a package that embedders import counts for their go.sum.
package movetest
