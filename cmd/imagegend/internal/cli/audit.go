package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// violation is an imagegen.Violation in JSON: the rule that is broken, what breaks it, and how. The fields are the
// same, so that the two convert into each other.
type violation struct {
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	Detail  string `json:"detail"`
}

// auditCommand has the running server carry out the audit, if there is one; the server goes on working meanwhile. The
// exit status tells apart books that are sound (0), books that are not (3) and an audit that could not be made (1).
func (a *app) auditCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "check the books and every image against its record",
		Long: "Replays the ledger, checks every invariant and every image file against its record, also while the server\n" +
			fmt.Sprintf("runs. Lists up to %d violations and exits with status 3 if there are any; 1 means that it could not audit.", imagegen.MaxViolations),
		Example: "  imagegend audit && echo clean",
	}
	asJSON := jsonFlag(c, "the violations as one JSON array")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		// An error means that nothing is known about the books; violations are in the report.
		r, err := admin.Audit.Do(cmd.Context(), s, admin.None{})
		if err != nil {
			return fmt.Errorf("the audit could not be carried out: %w", err)
		}
		// On standard error, so that standard output is "clean", the table or the JSON alone.
		fmt.Fprintf(a.stderr, "checked %d journal entries, %s, %s, %s, %s, %s\n", r.Entries,
			plural(r.Accounts, "account"), plural(r.Lots, "lot"), plural(r.Charges, "charge"),
			plural(r.Generations, "generation"), plural(r.Images, "image"))
		return a.reportViolations(r, *asJSON)
	})
	return c
}

// reportViolations prints what an audit found. Violations are an error with a status of its own, since a script must
// tell them from an audit that failed.
func (a *app) reportViolations(r imagegen.AuditReport, asJSON bool) error {
	found := lists.Each(r.Violations, func(v imagegen.Violation) violation { return violation(v) })
	// A table without rows would look like a command that did nothing.
	if r.Clean() && !asJSON {
		fmt.Fprintln(a.stdout, "clean")
		return nil
	}
	if err := printList(a, asJSON, found, []string{"RULE", "SUBJECT", "DETAIL"}, func(v violation) []any {
		return []any{v.Rule, v.Subject, v.Detail}
	}); err != nil {
		return err
	}
	if r.Clean() {
		return nil
	}
	return &exit{ExitViolations, fmt.Errorf("the audit found %s; %s", plural(len(r.Violations)+r.More, "violation"),
		remedy(r))}
}

// remedy returns what to do about violations. If only image files are wrong, the books are sound, and restoring a
// backup would lose what came after it. Violations beyond those that are listed may be of any rule, so they count as
// the worse case.
func remedy(r imagegen.AuditReport) string {
	other := func(v imagegen.Violation) bool { return v.Rule != "image bytes" && v.Rule != "reference bytes" }
	if r.More > 0 || slices.ContainsFunc(r.Violations, other) {
		return "stop the server, keep a copy of the data directory and restore the last good backup"
	}
	return "only image files are wrong: put them back from a backup, or erase their generations with imagegend generation delete; work whose reference images are wrong fails by itself and is refunded"
}
