package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
)

// jsonFlag declares --json.
func jsonFlag(cmd *cobra.Command, what string) *bool {
	return cmd.Flags().Bool("json", false, "print "+what)
}

// list prints the elements of a listing: one JSON array, or a table with a line for each.
func list[T any](a *app, asJSON bool, elements []T, header []string, line func(T) []any) error {
	if asJSON {
		if elements == nil {
			elements = []T{}
		}
		return printJSON(a.stdout, elements)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, e := range elements {
		for i, cell := range line(e) {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, plain(cell))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// did prints what a command has changed: with --json as one object, else as a line for people.
func (a *app) did(asJSON bool, v any, line string, args ...any) error {
	if asJSON {
		return printJSON(a.stdout, v)
	}
	_, err := fmt.Fprintf(a.stdout, line+"\n", args...)
	return err
}

// handed prints what the next program takes: alone, with a note to standard error of what it is, or with --json
// as one object.
func (a *app) handed(asJSON bool, v any, alone, note string, args ...any) error {
	if asJSON {
		return printJSON(a.stdout, v)
	}
	fmt.Fprintf(a.stderr, note+"\n", args...)
	_, err := fmt.Fprintln(a.stdout, alone)
	return err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// plain shows a value on a line of a terminal. What users wrote can hold line breaks, and escapes that
// the terminal would obey: it is quoted then.
func plain(v any) string {
	s := fmt.Sprint(v)
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(s, odd) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}

// plural counts things: "1 credit", "2 credits".
func plural[N int | imagegen.Credits](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// when shows a time in a table.
func when(t admin.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

// orDash shows what may be empty in a table.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
