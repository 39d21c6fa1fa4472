package imagegen

// AuditReport is what an audit went over and what it found.
type AuditReport struct {
	Entries     int // of the journal
	Accounts    int
	Lots        int
	Charges     int
	Generations int
	Images      int
	TrailRows   int         // of the audit trail
	Violations  []Violation // the first MaxViolations
	More        int         // violations beyond those
}

// MaxViolations is the most violations that a report lists.
const MaxViolations = 100

// Add takes a violation up: into the list, or beyond MaxViolations into the count of More.
func (r *AuditReport) Add(v Violation) {
	if len(r.Violations) == MaxViolations {
		r.More++
		return
	}
	r.Violations = append(r.Violations, v)
}

// Clean reports whether nothing was found.
func (r AuditReport) Clean() bool { return len(r.Violations) == 0 }
