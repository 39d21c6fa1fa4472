package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// reloadTime is how long the store may take to tell what accepted work needs.
const reloadTime = 30 * time.Second

// reload reads the models anew, with the files that they name. Models that will not do, or that take from
// accepted work what it needs, are refused whole: the old ones stay.
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
		reason := strings.ReplaceAll(strings.ReplaceAll(err.Error(), "imagegen: ", ""), "\n", "; ")
		d.log.Error("the models were not reloaded, the old ones stay", "file", file, "error", reason)
		d.note(ctx, account.ActServeReload, account.TrailRefused, fmt.Sprintf("error=%q", reason))
		return
	}
	d.reloaded(ctx, models)
}

// reloaded tells what has changed.
func (d *daemon) reloaded(ctx context.Context, models []engine.Model) {
	news, warned := changes(d.offered, models), d.warnings()
	d.offered = models
	d.models, _ = d.engine.Models(ctx) // there is no error
	if len(news) == 0 {
		news = []string{"nothing that callers see"}
	}
	d.log.Info("the models were reloaded", "changed", strings.Join(news, "; "), "models", strings.Join(d.modelLines(), "; "))
	for _, w := range d.warnings() {
		if !slices.Contains(warned, w) {
			d.log.Warn(w)
		}
	}
	d.note(ctx, account.ActServeReload, account.TrailDone, fmt.Sprintf("changed=%q", news))
}
