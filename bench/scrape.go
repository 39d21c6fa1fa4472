package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"time"
)

const (
	// scrapes is how often the metrics are read, one every scrapePause.
	scrapes     = 200
	scrapePause = 100 * time.Millisecond
)

// scrape measures what it costs the daemon to answer with its metrics after one generation.
func scrape(ctx context.Context, b *bench) (measured, error) {
	p, err := b.service(ready.of(least))
	if err != nil {
		return measured{}, err
	}
	defer p.stop()
	if err := p.makeOne(least.edge); err != nil {
		return measured{}, err
	}
	socket := filepath.Join(cmp.Or(b.data, filepath.Join(p.dir, "data")), "admin.sock")
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer c.CloseIdleConnections()
	var bytes int64
	before, err := p.processorTime()
	if err != nil {
		return measured{}, err
	}
	for range scrapes {
		if bytes, err = ask(ctx, c, "http://imagegend/metrics"); err != nil {
			return measured{}, err
		}
		if err := wait(ctx, scrapePause); err != nil {
			return measured{}, err
		}
	}
	after, err := p.processorTime()
	each := (after - before) / scrapes
	share := 100 * float64(10*each) / float64(time.Second) / float64(runtime.NumCPU())
	return measured{fmt.Sprintf("%.2f ms of a processor", float64(each.Microseconds())/1000),
		fmt.Sprintf("ten a second take %.1f %% of %d processors; %d bytes", share, runtime.NumCPU(), bytes)}, err
}

// ask reads an answer to its end and returns how many bytes it has.
func ask(ctx context.Context, c *http.Client, url string) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	a, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s answers %s", url, a.Status)
	}
	return io.Copy(io.Discard, a.Body)
}
