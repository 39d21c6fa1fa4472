// Package privdroptest drops root's rights over files in a test, so that a test of permissions also works when root
// runs it.
package privdroptest
