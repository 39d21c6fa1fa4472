// Package pagesize says how much of a storage is moved in one transaction.
package pagesize

// Rows is how many rows are copied or compared in one transaction. Tests move few rows in
// smaller pages.
var Rows = 2000

// Of moves so many rows at once until the function that it returns is called.
func Of(rows int) (restore func()) {
	former := Rows
	Rows = rows
	return func() { Rows = former }
}
