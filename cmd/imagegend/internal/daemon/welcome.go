package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/shell"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// welcome is what a newcomer needs next: with --dev an account and a line to paste, for an empty
// store how to make an operator, a user and a key.
func (d *daemon) welcome(ctx context.Context) ([]string, error) {
	if d.options.Dev {
		return d.welcomeDev(ctx)
	}
	lines, err := d.setUpOperator(ctx)
	if err != nil {
		return nil, err
	}
	users, err := d.engine.Accounts().UserPage(ctx, imagegen.UserQuery{Limit: 1})
	if err != nil || len(users.Users) > 0 {
		return lines, err
	}
	var dir, url string
	if d.options.DataDir != config.DefaultDataDir {
		dir = " --data-dir " + shell.Quote(d.options.DataDir)
	}
	if d.listenURL() != config.DefaultURL {
		url = " --url " + d.listenURL()
	}
	return append(lines,
		"no user yet; in another terminal:",
		"  imagegend user create alice --credits 1000"+dir,
		"  export IMAGEGEND_API_KEY=$(imagegend key create --user alice"+dir+")",
		"  imagegend generate 'a fox in the snow'"+url,
	), nil
}

func (d *daemon) welcomeDev(ctx context.Context) ([]string, error) {
	u, err := d.openAccount(ctx)
	if err != nil {
		return nil, err
	}
	key, _, err := d.engine.Accounts().MintKey(ctx, u.ID, "dev", time.Time{})
	if err != nil {
		return nil, err
	}
	lines := []string{
		fmt.Sprintf("user %s has %d credits and the key %s", u.Name, devCredits, key.Reveal()),
		"paste this for an image:",
		curlLine(d.listenURL(), key, d.models[0].ID),
	}
	if !d.options.Console {
		return lines, nil
	}
	path, err := console.SignInLink(ctx, d.db, u.ID, account.RoleOperator, time.Now().Add(entryTime))
	return append(lines, "or open this in a browser: "+d.consoleURL()+path), err
}

// curlLine asks for an image and saves it, with no more than curl and what every shell has beside it.
func curlLine(url string, key imagegen.Secret, model string) string {
	return fmt.Sprintf(`curl -s %s/api/v1/images/generations -H 'Authorization: Bearer %s' -H 'Content-Type: application/json'`+
		` -d '{"model": "%s", "prompt": "a fox in the snow"}' | grep -o 'http[^"]*/images/[^"]*' | head -n 1 | xargs curl -so fox.png`,
		url, key.Reveal(), model)
}
