// Mutants shows that the tests catch what they are there for: it plants one defect after the other
// in a copy of the source tree, and demands that a named test fails.
//
//	go run ./proof/mutants              all of them
//	go run ./proof/mutants -only fsync  those whose name matches
//
// It ends with status 1 if a defect survives or can no longer be planted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
)

func main() {
	only := flag.String("only", "", "a regular expression that matches the names of the mutants to plant")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run plants the mutants of which a part of the name matches, and prints what became of each.
func run(ctx context.Context, only string) error {
	name, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(mutants(), func(m mutant) bool { return !name.MatchString(m.name) })
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant is called %q", only)
	}
	c, err := copySource(ctx)
	if err != nil {
		return err
	}
	defer c.remove()
	count := map[fate]int{}
	for _, m := range chosen {
		e := c.try(ctx, m)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		count[e.fate]++
		fmt.Printf("%-26s %-8s %5.1f s  %s\n", m.name, e.fate, e.took.Seconds(), e.detail)
	}
	fmt.Printf("%d mutants: %d caught, %d survived, %d broken, %d skipped\n",
		len(chosen), count[caught], count[survived], count[broken], count[skipped])
	if count[survived]+count[broken] > 0 {
		return fmt.Errorf("not every mutant was caught")
	}
	return nil
}
