// Package vertex makes images with Gemini's models on Vertex AI, as a service account of Google Cloud. It is package
// gemini with another address, that of the project, and with access tokens that are valid for an hour in the place of
// a key. The requests are the same.
//
//	p, err := vertex.New(vertex.Config{ServiceAccount: keyFile})
//	...
//	imagegen.Model{ID: "gemini-3-pro-image", Provider: p, Credits: prices}
//
// A program that uses only package gemini does not compile golang.org/x/oauth2, which
// fetches the tokens.
//
// # The upstream
//
// From Google Cloud's documentation, and golang.org/x/oauth2/google: a token is fetched
// at the key file's token_uri, with a JWT signed by the account's key. Models are at
// /v1/projects/PROJECT/locations/LOCATION/publishers/google/models/MODEL. The only free
// request about a model is countTokens.
package vertex

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"golang.org/x/oauth2/google"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
)

const (
	defaultLocation = "global"
	scope           = "https://www.googleapis.com/auth/cloud-platform"
)

// Config describes an account and a model. Only ServiceAccount is required.
type Config struct {
	// Config holds the options that models on Vertex AI share with those of the Gemini API. Its APIKey and Token are
	// not used. An empty Name stands for "vertex", an empty BaseURL for the address of Project and Location.
	gemini.Config

	// ServiceAccount is the content of the account's key file, in JSON. The account needs the role
	// roles/aiplatform.user. Required.
	ServiceAccount imagegen.Secret

	// Project is the project that pays. "": the service account's own.
	Project string

	// Location is where the work is done, such as europe-west4. "": global.
	Location string
}

// name matches what may be part of an address as a project or a location.
var name = regexp.MustCompile(`^[a-z0-9][a-z0-9:.-]*$`)

// New returns an error that says what is wrong with c, and reveals nothing of the key. It makes no request: the first
// call of the provider fetches the first token. If none can be fetched, the call fails with imagegen.ClassBlocked if
// Google refuses the account, otherwise with imagegen.ClassUnavailable.
func New(c Config) (*gemini.Provider, error) {
	account, err := google.JWTConfigFromJSON([]byte(c.ServiceAccount.Reveal()), scope)
	if err != nil {
		return nil, errors.New("vertex: the option ServiceAccount is not the key file of a service account: " +
			"its type is not service_account")
	}
	if u, err := url.Parse(account.TokenURL); err != nil || u.Scheme != "https" && !(u.Scheme == "http" && c.Private) {
		return nil, errors.New("vertex: the option ServiceAccount has a token_uri that is not an https address")
	}
	var file struct {
		Project string `json:"project_id"`
	}
	if err := json.Unmarshal([]byte(c.ServiceAccount.Reveal()), &file); err != nil {
		return nil, errors.New("vertex: the option ServiceAccount is not JSON")
	}
	c.Project, c.Location = cmp.Or(c.Project, file.Project), cmp.Or(c.Location, defaultLocation)
	if !name.MatchString(c.Project) || !name.MatchString(c.Location) {
		return nil, fmt.Errorf("vertex: the option Project is %q and Location %q; want such as my-project and europe-west4", c.Project, c.Location)
	}
	c.Name = cmp.Or(c.Name, "vertex")
	c.BaseURL = cmp.Or(c.BaseURL, address(c.Project, c.Location))
	c.APIKey, c.Token = "", newTokens(account).get
	return gemini.New(c.Config)
}

// address is where the models of a project are in a location. The location global has a host without a prefix.
func address(project, location string) string {
	host := location + "-aiplatform.googleapis.com"
	if location == defaultLocation {
		host = "aiplatform.googleapis.com"
	}
	return fmt.Sprintf("https://%s/v1/projects/%s/locations/%s/publishers/google", host, project, location)
}
