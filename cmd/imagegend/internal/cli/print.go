package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// jsonFlag declares --json. what completes its help, which begins with "print".
func jsonFlag(cmd *cobra.Command, what string) *bool {
	return cmd.Flags().Bool("json", false, "print "+what)
}

// printList prints a listing: one JSON array, never null, or a table with a line for each element. line returns the
// cells of an element, one for each column of header.
func printList[T any](a *app, asJSON bool, elements []T, header []string, line func(T) []any) error {
	if asJSON {
		// A nil slice would be null in JSON.
		if elements == nil {
			elements = []T{}
		}
		return printJSON(a.stdout, elements)
	}
	// Spaces between columns, and not tabs, which a terminal would align in its own way.
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, e := range elements {
		fmt.Fprintln(w, row(line(e)))
	}
	return w.Flush()
}

// row joins the cells of a table's line. Every cell goes through plain, so no text of a user reaches the terminal as it
// is.
func row(cells []any) string { return strings.Join(lists.Each(cells, plain), "\t") }

// printResult prints what a command has changed: with --json v as one object, else a line for people, which line and
// args make as in fmt.Printf. Text of users among args must go through plain.
func (a *app) printResult(asJSON bool, v any, line string, args ...any) error {
	if asJSON {
		return printJSON(a.stdout, v)
	}
	_, err := fmt.Fprintf(a.stdout, line+"\n", args...)
	return err
}

// printAlone prints what another program takes over, such as a key. It stands alone on standard output, so that $(…) in
// a shell gets nothing else, and a note of what it is goes to standard error. With --json v is printed as one object.
func (a *app) printAlone(asJSON bool, v any, alone, note string, args ...any) error {
	if asJSON {
		return printJSON(a.stdout, v)
	}
	fmt.Fprintf(a.stderr, note+"\n", args...)
	_, err := fmt.Fprintln(a.stdout, alone)
	return err
}

// printJSON prints for people and programs alike: indented, and with <, > and & as they are.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plain returns a value as text that stays on one line of a terminal. Text of users can hold line breaks, or escape
// sequences that the terminal would obey; such a text is quoted.
func plain(v any) string {
	s := fmt.Sprint(v)
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(s, odd) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

// plural counts things: "1 credit", "2 credits". thing must be a noun that takes an s.
func plural[N int | imagegen.Credits](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// when returns a time for a table or a sentence, in UTC, which the Z says; a dash for the zero time.
func when(t admin.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// orDash returns a dash in place of an empty text, so that no cell of a table is empty.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
