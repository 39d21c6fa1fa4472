// Package doctor looks at what a service needs to run well: its settings, directory, disk, clock, database, images,
// backups and network. A file belongs to each check; package cli puts them together. A check reports everything, its
// own errors included, as a [Finding], so one failure does not hide another. Nothing that it writes lasts; it
// generates no image and costs nothing.
package doctor

import "fmt"

// databaseFile is the name of the database in a data directory, as package storage has it.
const databaseFile = "imagegen.db"

// State says how serious a finding is. The words are part of the JSON that doctor prints, so scripts rely on them.
type State string

// The states, in rising order.
const (
	OK   State = "ok"
	Warn State = "warn" // it works, and an operator should look into it
	Fail State = "fail" // it does not work
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"` // what was checked, such as "disk"
	State  State  `json:"state"`
	Detail string `json:"detail"` // what was found
	Remedy string `json:"remedy"` // what to do; "" if nothing needs to be done
}

// ok returns a finding without a problem. A check that finds a problem ends with says and but or fails.
func ok(check, format string, args ...any) Finding {
	return Finding{Check: check, State: OK}.says(format, args...)
}

// says replaces the detail.
func (f Finding) says(format string, args ...any) Finding {
	f.Detail = fmt.Sprintf(format, args...)
	return f
}

// but turns the finding into a warning, with what to do.
func (f Finding) but(remedy string) Finding {
	f.State, f.Remedy = Warn, remedy
	return f
}

// fails turns the finding into a failure, with what to do.
func (f Finding) fails(remedy string) Finding {
	f.State, f.Remedy = Fail, remedy
	return f
}

// Failed counts the failures.
func Failed(findings []Finding) (n int) {
	for _, f := range findings {
		if f.State == Fail {
			n++
		}
	}
	return n
}
