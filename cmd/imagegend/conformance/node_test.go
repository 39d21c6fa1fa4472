package conformance_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// A daemon on PostgreSQL with an object store is held to all that one with a directory is.
func TestNode(t *testing.T) {
	database, objects := postgrestest.Start(t), s3test.Start(t)
	var start func(t *testing.T, s settings) *service
	start = func(t *testing.T, s settings) *service {
		t.Helper()
		args := append(s.flags(), "--log-format", "json")
		if s.models != "" {
			args = append(args, "--models", s.modelsFile(t))
		}
		d := daemontest.Start(t, daemontest.Options{Args: args, Env: []string{
			"IMAGEGEND_DATABASE=" + database.Database(t),
			"IMAGEGEND_IMAGES=" + objects.Address(),
		}})
		return &service{url: d.URL, operator: elsewhere{commands{d}}, start: start, log: d.Output}
	}
	runChecks(t, start)
	runSuite(t, start)
}

// elsewhere is an operator on another machine: what it forbids, nodes believe to be allowed for a second more.
type elsewhere struct{ commands }

const believed = time.Second

func (e elsewhere) setAccountType(t *testing.T, user, accountType string) {
	t.Helper()
	e.commands.setAccountType(t, user, accountType)
	time.Sleep(believed)
}

func (e elsewhere) disableUser(t *testing.T, user string) {
	t.Helper()
	e.commands.disableUser(t, user)
	time.Sleep(believed)
}

func (e elsewhere) revokeKey(t *testing.T, user, raw string) {
	t.Helper()
	e.commands.revokeKey(t, user, raw)
	time.Sleep(believed)
}
