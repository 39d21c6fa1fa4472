package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/doctor"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/tracing"
)

// doctorCommand has the flags of serve, since it examines the settings with which serve would run.
func (a *app) doctorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check all that the service needs, and say what to do",
		Long: "Checks the configuration, the data directory, the disk, the clock, the database, the images, the backups, the\n" +
			"models with their upstreams, the sign-in to the console, and the network. It takes the settings of serve. It works\n" +
			"beside a running server and without one, and generates nothing. Each line is ok, warn or fail; exit status 1 says\n" +
			"that one is fail.",
		Example: "  imagegend doctor\n" +
			"  imagegend doctor --config /etc/imagegend/imagegend.yaml --json",
	}
	a.examination(c, a.examine)
	return c
}

// examination makes it the action of c to check the settings of serve, by themselves and together, and, if they can be
// used, everything that examine looks at. It prints the findings, whose details lose the names of packages. The action
// returns an error, exit status 1, if a check failed.
//
// The settings are what is examined, so wrong ones must not end the command before it begins. Its own
// PersistentPreRunE therefore runs the root's and keeps the error as a finding.
func (a *app) examination(c *cobra.Command, examine func(context.Context) []doctor.Finding) {
	a.settings.ServeFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON array")
	var misconfigured error
	// cobra runs this in place of the root's.
	c.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		err := cmd.Root().PersistentPreRunE(cmd, args)
		if e, ok := errors.AsType[*exit](err); ok {
			misconfigured, err = e.err, nil
		}
		return err
	}
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if misconfigured == nil {
			misconfigured = cmp.Or(daemon.Check(a.settings, a.sources), tracing.Check())
		}
		findings := []doctor.Finding{doctor.Program(runtime.Version()), a.configuration(misconfigured)}
		if misconfigured == nil {
			findings = append(findings, examine(adminserver.AsCommand(cmd.Context()))...)
		}
		// What an interrupted check has found would be misleading.
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		for i, f := range findings {
			findings[i].Detail = forPeople(f.Detail)
		}
		if err := a.showFindings(findings, *asJSON); err != nil {
			return err
		}
		if n := doctor.Failed(findings); n > 0 {
			return fmt.Errorf("something is wrong: %d of %s failed", n, plural(len(findings), "check"))
		}
		return nil
	})
}

// configuration is the finding about the settings: where they come from, or why they cannot be used. If they cannot,
// nothing else is examined.
func (a *app) configuration(err error) doctor.Finding {
	f := doctor.Finding{Check: "configuration", State: doctor.OK}
	if err != nil {
		f.State, f.Detail, f.Remedy = doctor.Fail, err.Error(), "put it right, and begin again: all else depends on it"
		return f
	}
	f.Detail = cmp.Or(a.sources.File, "no file: flags, environment and defaults")
	return f
}

// examine makes all of doctor's checks after the settings, in the order in which they are shown. No check depends on
// an earlier one that failed, except for those of the data: what nobody may open is not examined further.
func (a *app) examine(ctx context.Context) []doctor.Finding {
	s := a.settings.Server
	// A running server holds the addresses that Addresses would try.
	findings, running := a.examineData(ctx, a.settings.Data)
	return slices.Concat(findings, a.examineModels(ctx, probeAll), doctor.Certificate(s, time.Now()),
		doctor.Password(s), doctor.Brand(s), doctor.SignIn(s), doctor.Issuer(ctx, s), doctor.Addresses(s, running),
		doctor.Network(s), []doctor.Finding{doctor.TimeOfDay(time.Now())})
}

// examineData looks at the data, and reports whether a server runs on this machine's directory. Data that nodes share
// is always opened by this process, whether or not a server runs here.
func (a *app) examineData(ctx context.Context, at config.Data) (findings []doctor.Finding, running bool) {
	if at.Shared() {
		findings = append(doctor.Shared(ctx, at), doctor.Node(at.DataDir)...)
		return findings, adminserver.Answers(ctx, at.DataDir)
	}
	return a.examineDirectory(ctx, at.DataDir)
}

// examineDirectory looks at the data directory and what is in it. It stops where serve would: nothing is opened in a
// directory that others could have changed. The session is closed at the end, so that a server can start.
func (a *app) examineDirectory(ctx context.Context, dir string) (findings []doctor.Finding, running bool) {
	directory, there := doctor.Directory(dir)
	findings = []doctor.Finding{directory}
	if !there || directory.State == doctor.Fail { // no command would open it
		return findings, false
	}
	database, session := doctor.Database(ctx, dir)
	findings = append(findings, doctor.Disk(dir), database)
	if session == nil {
		// Without a database the clock and the backups can still be judged, by what lies on the disk.
		return append(findings, doctor.Clock(ctx, dir, time.Now(), nil), doctor.Backup(ctx, a.settings.Server, nil,
			time.Now())), false
	}
	defer session.Close()
	return append(findings, doctor.Clock(ctx, dir, time.Now(), session), doctor.Images(dir),
		doctor.Backup(ctx, a.settings.Server, session, time.Now())), session.Server
}

// examineModels looks at each model. If the models cannot be read, or an engine refuses them, that is the only
// finding. look fills in what a check knows of the upstream; if it fails, the command was interrupted, and there are
// no findings.
func (a *app) examineModels(ctx context.Context, look func(context.Context, []*check) error) []doctor.Finding {
	models, err := a.models()
	if err != nil {
		return []doctor.Finding{{Check: "models", State: doctor.Fail, Detail: err.Error(),
			Remedy: "put the models file right; docs/operating.md tells how"}}
	}
	checks, err := newChecks(ctx, models, a.settings)
	if err != nil {
		return []doctor.Finding{{Check: "models", State: doctor.Fail, Detail: err.Error(),
			Remedy: "put the models file right; serve would refuse it"}}
	}
	if look(ctx, checks) != nil {
		return nil // examination finds that ctx has ended
	}
	return lists.Each(checks, (*check).finding)
}

// finding returns a check as a line of doctor. A model that an upstream cannot confirm is a warning: some upstreams
// have no way to list their models.
func (c *check) finding() doctor.Finding {
	f := doctor.Finding{Check: "model " + c.Model, State: doctor.OK, Detail: c.Provider + ": " + c.state()}
	switch {
	case !c.OK:
		f.State, f.Remedy = doctor.Fail, "see to its key, address and account, then run imagegend provider check "+
			c.Model
	case c.Doubt != "":
		f.State, f.Remedy = doctor.Warn, "make sure that the upstream has this model"
	case len(c.Losses) > 0:
		f.State, f.Detail = doctor.Warn, f.Detail+"; "+strings.Join(c.Losses, "; ")
		f.Remedy = "raise the price, or put cost and credit-value right"
	}
	return f
}

// showFindings prints a line for each finding, with its remedy below it, or one JSON array.
func (a *app) showFindings(findings []doctor.Finding, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, findings)
	}
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Check))
	}
	for _, f := range findings {
		fmt.Fprintf(a.stdout, "%-6s%-*s  %s\n", f.State, width, f.Check, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(a.stdout, "%*s-> %s\n", 6+width+2, "", f.Remedy)
		}
	}
	return nil
}
