package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// cluster is nodes on one database and one bucket.
type cluster struct {
	program   string
	dir       string
	base      string   // the public address
	shared    []string // the environment of every node, and of every command
	addresses []string
}

// start starts the nodes, one after the other. The first makes the tables.
func (c *cluster) start(ctx context.Context, started *processes, out io.Writer) error {
	for n := range nodes {
		address, err := freeAddress()
		if err != nil {
			return err
		}
		name := fmt.Sprint("node", n+1)
		node := c.command(context.Background(), "serve", "--addr", address, "--data-dir", filepath.Join(c.dir, name),
			"--models", "fake", "--base-url", c.base, "--trusted-proxy", "127.0.0.1", "--nodes", strconv.Itoa(nodes))
		if err := started.start(ctx, name, c.dir, address, syscall.SIGTERM, node); err != nil {
			return err
		}
		c.addresses = append(c.addresses, address)
		fmt.Fprintf(out, "%s listens on %s\n", name, address)
	}
	return nil
}

func (c *cluster) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.shared...)
	return cmd
}

// customer makes a user with credits, and returns a key. The commands work on the database, as the nodes do.
func (c *cluster) customer(ctx context.Context) (key string, err error) {
	for _, args := range [][]string{
		{"user", "create", "alice", "--credits", "100"},
		{"key", "create", "--user", "alice"},
	} {
		said, err := c.command(ctx, args...).Output()
		if err != nil {
			return "", fmt.Errorf("imagegend %s: %w", strings.Join(args, " "), err)
		}
		key = strings.TrimSpace(string(said))
	}
	return key, nil
}
