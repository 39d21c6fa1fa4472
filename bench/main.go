// Bench holds the service against the least that such a service can do, on the same machine in the
// same minute, and prints ratios as tables in Markdown:
//
//	go run ./bench                       # everything, a quarter of an hour
//	go run ./bench -only 'openai.*64'    # the rows whose name matches
//	go run ./bench -rounds 3 -turn 500ms
//
// README.md tells what is measured and how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	var b bench
	only := flag.String("only", "", "measure the rows whose name matches this regular expression")
	into := flag.String("into", "", "put the tables into this Markdown file as well, in place of those that are there")
	flag.IntVar(&b.rounds, "rounds", 7, "how often each row is measured; the median counts")
	flag.DurationVar(&b.turn, "turn", time.Second, "how long a server is under load in each round")
	flag.StringVar(&b.data, "data", "", "a data directory of bench/populate: also measure what needs it")
	flag.StringVar(&b.dir, "dir", "",
		"where to work; it must be on the disk that is to be measured (default: a temporary directory)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *only, *into); err != nil {
		log.Fatal(err)
	}
}

// bench is one run.
type bench struct {
	rounds int
	turn   time.Duration
	data   string
	dir    string
	bin    string // where the programs are built
	report []byte
}

func (b *bench) run(ctx context.Context, only, into string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(b.dir, "imagegen-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.build(ctx); err != nil {
		return err
	}
	b.print("%d cores, %s, %d rounds of %v each.\n", runtime.NumCPU(), runtime.Version(), b.rounds, b.turn)
	for _, t := range tables {
		if err := b.table(ctx, t, chosen); err != nil {
			return err
		}
	}
	if into == "" {
		return nil
	}
	return insert(into, b.report)
}

// errNeedsData says that a row needs a directory of bench/populate.
var errNeedsData = errors.New("needs -data")

func (b *bench) table(ctx context.Context, t table, chosen *regexp.Regexp) error {
	header := fmt.Sprintf("\n| %s |\n|%s\n", strings.Join(t.columns, " | "), strings.Repeat("---|", len(t.columns)))
	for _, r := range t.rows {
		if !chosen.MatchString(r.name) {
			continue
		}
		cells, err := r.measure(ctx, b)
		if errors.Is(err, errNeedsData) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		b.print("%s| %s | %s |\n", header, r.name, strings.Join(cells, " | "))
		header = ""
	}
	return nil
}

// print shows a part of the report as soon as it is known.
func (b *bench) print(format string, args ...any) {
	fmt.Fprintf(os.Stdout, format, args...)
	b.report = fmt.Appendf(b.report, format, args...)
}

// What stands between these lines is replaced.
const begin, end = "<!-- bench: begin -->\n", "<!-- bench: end -->\n"

// insert puts text between the marks of a file.
func insert(file string, text []byte) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q", file, begin, end)
	}
	return os.WriteFile(file, slices.Concat([]byte(before+begin), text, []byte(end+after)), 0o644)
}
