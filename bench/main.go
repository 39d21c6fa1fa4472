// Bench holds the service against the least that such a service can do, on the same machine in the
// same minute, and prints ratios:
//
//	go run ./bench                    # everything, a quarter of an hour
//	go run ./bench -only disk         # the rows whose name has it
//	go run ./bench -rounds 1 -during 2s
//
// README.md tells what is measured and how.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	var b bench
	only := flag.String("only", "", "measure the rows whose name contains this")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each row is measured; the median counts")
	flag.DurationVar(&b.during, "during", 5*time.Second, "how long each load lasts")
	flag.StringVar(&b.data, "data", "", "a data directory of bench/populate that the daemon works on, instead of an empty one")
	flag.StringVar(&b.dir, "dir", "", "where to work; it must be on the disk that is to be measured (default: a temporary directory)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx, *only); err != nil {
		log.Fatal(err)
	}
}

// bench is one run.
type bench struct {
	rounds int
	during time.Duration
	data   string
	dir    string
	bin    string // where the programs are built
}

func (b *bench) run(ctx context.Context, only string) (err error) {
	if b.dir, err = os.MkdirTemp(b.dir, "imagegen-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.build(ctx); err != nil {
		return err
	}
	fmt.Printf("%d cores, %s, %d rounds of %v each\n\n", runtime.NumCPU(), runtime.Version(), b.rounds, b.during)
	fmt.Printf("%-48s %-12s %-24s %s\n", "what", "target", "measured (lowest-highest)", "detail")
	for _, r := range rows {
		if !strings.Contains(r.name, only) {
			continue
		}
		m, err := r.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Printf("%-48s %-12s %-24s %s\n", r.name, r.target, m.figure, m.detail)
	}
	return nil
}
