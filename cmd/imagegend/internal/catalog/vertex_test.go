package catalog_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

// serviceAccount is a key file as Google Cloud hands it out; nobody looks at the key before it is needed.
const serviceAccount = `{"type": "service_account", "project_id": "my-project", "private_key_id": "1", "private_key": "s3cret-value",
	"client_email": "painter@my-project.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token"}`

func TestVertexAI(t *testing.T) {
	is := is.New(t)
	p, err := loadProvider(t,
		" {type: gemini, service_account_file: account.json, project: other, location: europe-west4, max_references: 3}")
	is.NoErr(err)
	is.Equal(p.Name(), "vertex")
	is.Equal(p.Capabilities().MaxReferences, 3)
	for block, want := range map[string]string{
		" {type: gemini, service_account_file: account.json, key_env: KEY}":       "leave one of them",
		" {type: gemini, key_env: KEY, project: other}":                           "service_account_file: PATH",
		" {type: gemini, service_account_file: key}":                              "not the key file of a service account",
		" {type: gemini, service_account_file: account.json, location: 'eu/../'}": "location",
	} {
		_, err := loadProvider(t, block)
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), want))
		is.True(!strings.Contains(err.Error(), secret))
	}
}
