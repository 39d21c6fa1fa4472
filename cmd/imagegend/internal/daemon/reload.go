package daemon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// reloadTime bounds how long the store may take to find out which models accepted work needs.
const reloadTime = 30 * time.Second

// reload reads the models again, with the files that they name. It takes all of them or none: models that cannot be
// used, or that lack what accepted work needs, leave the old ones in place. The log and the audit trail tell the
// outcome.
func (d *daemon) reload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	file, models, err := d.loadModels()
	if err == nil && file == catalog.Fake {
		d.log.Warn("SIGHUP changes nothing: the models are not from a file, name one with --models FILE")
		return
	}
	if err == nil {
		err = d.engine.SetModels(ctx, models)
	}
	if err != nil {
		// One line for the log and the trail, of what may be several errors.
		reason := strings.ReplaceAll(strings.ReplaceAll(err.Error(), "imagegen: ", ""), "\n", "; ")
		d.log.Error("the models were not reloaded, the old ones stay", "file", file, "error", reason)
		d.noteAct(ctx, account.ActServeReload, account.TrailRefused, fmt.Sprintf("error=%q", reason))
		return
	}
	d.reloaded(ctx, models)
}

// reloaded reports what has changed, and warnings that the former models did not have.
func (d *daemon) reloaded(ctx context.Context, models []engine.Model) {
	news, warned := changes(d.offered, models), d.warnings()
	d.offered = models
	d.models, _ = d.engine.Models(ctx) // always without an error
	if len(news) == 0 {
		news = []string{"nothing that callers see"}
	}
	d.log.Info("the models were reloaded", "changed", strings.Join(news, "; "), "models", strings.Join(d.modelLines(),
		"; "))
	for _, w := range d.warnings() {
		if !slices.Contains(warned, w) {
			d.log.Warn(w)
		}
	}
	d.noteAct(ctx, account.ActServeReload, account.TrailDone, fmt.Sprintf("changed=%q", news))
}

// warnOfStranded names the models of accepted work that this process cannot make: unlike a reload, a start takes any
// models. The service works without the answer.
func (d *daemon) warnOfStranded(ctx context.Context) {
	stranded, err := d.engine.Unservable(ctx)
	if err != nil {
		d.log.Warn("it could not be determined which models accepted work needs", "error", err)
	}
	for _, model := range slices.Sorted(maps.Keys(stranded)) {
		d.log.Warn("accepted work waits for a model that is not offered here, or for its former upstream: offer it again, retired if it is not for callers, or "+
			"the work is refunded 24 hours after it was accepted", "model", model, "generations", stranded[model])
	}
}
