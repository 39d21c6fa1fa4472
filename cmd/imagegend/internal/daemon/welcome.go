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

// welcome returns the lines that tell a newcomer what to do next: with --dev an account and a line to paste; otherwise
// how to make the first operator and, while there is no user, the first user and key; nil if everything exists. With
// --dev it makes the account, and with a password file the first operator.
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
	// The lines can be pasted as they are, so they name the directory and the address where those are not the
	// defaults.
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

// welcomeDev shows the raw key: with --dev only this machine can reach the service.
func (d *daemon) welcomeDev(ctx context.Context) ([]string, error) {
	u, err := d.openAccount(ctx)
	if err != nil {
		return nil, err
	}
	key, _, err := d.engine.Accounts().MintKey(ctx, u.ID, "dev", time.Time{})
	if err != nil {
		return nil, err
	}
	d.devKey = key
	lines := []string{
		fmt.Sprintf("user %s has %d credits and the key %s", u.Name, devCredits, key.Reveal()),
		"paste this for an image:",
		curlLine(d.listenURL(), key, d.models[0].ID),
	}
	if !d.options.Console {
		return lines, nil
	}
	// With --dev the user is an operator too, so that all of the console can be seen.
	path, err := console.SignInLink(ctx, d.db, u.ID, account.RoleOperator, time.Now().Add(entryTime))
	return append(lines, "or open this in a browser: "+d.consoleURL()+path), err
}

// curlLine returns a command that asks for an image and saves it. It needs curl and what every POSIX system has.
func curlLine(url string, key imagegen.Secret, model string) string {
	return fmt.Sprintf(`curl -s %s/api/v1/images/generations -H 'Authorization: Bearer %s' -H 'Content-Type: application/json'`+
		` -d '{"model": "%s", "prompt": "a fox in the snow"}' | grep -o 'http[^"]*/images/[^"]*' | head -n 1 | xargs curl -so fox.png`,
		url, key.Reveal(), model)
}
