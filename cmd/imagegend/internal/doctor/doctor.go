// Package doctor looks at what a service needs to run well: its directory, disk, clock, database, images
// and network. It changes nothing that lasts.
package doctor

import "fmt"

// databaseFile is the name of the database in a data directory.
const databaseFile = "imagegen.db"

// State is how much a finding matters.
type State string

// The states, in rising order.
const (
	OK   State = "ok"
	Warn State = "warn" // it works, and an operator should see to it
	Fail State = "fail" // it does not work
)

// Finding is what one look has shown.
type Finding struct {
	Check  string `json:"check"` // what was looked at, such as "disk"
	State  State  `json:"state"`
	Detail string `json:"detail"` // what is
	Remedy string `json:"remedy"` // what to do; "" if nothing is to be done
}

func ok(check, format string, args ...any) Finding {
	return Finding{Check: check, State: OK, Detail: fmt.Sprintf(format, args...)}
}

// but returns the finding as a warning, with what to do.
func (f Finding) but(remedy string) Finding {
	f.State, f.Remedy = Warn, remedy
	return f
}

// fails returns the finding as a failure, with what to do.
func (f Finding) fails(remedy string) Finding {
	f.State, f.Remedy = Fail, remedy
	return f
}

// Failed is how many findings are failures.
func Failed(findings []Finding) (n int) {
	for _, f := range findings {
		if f.State == Fail {
			n++
		}
	}
	return n
}
