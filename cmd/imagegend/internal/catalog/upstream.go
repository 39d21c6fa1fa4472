package catalog

import (
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
)

// accountKeys are those that tell accounts apart. A secret is known by its place and not by what it is: so
// it can be renewed there, and is stored nowhere.
var accountKeys = []string{"organization", "project", "location", "user", "key_env", "key_file", "service_account_env", "service_account_file"}

// upstream tells what a provider's block asks from what others ask: by type, address and account, such as
// "bfl base_url=https://api.eu.bfl.ai/v1 key_env=BFL_API_KEY".
func upstream(n *yaml.Node) string {
	parts := []string{scalar(n, "type")}
	if address := scalar(n, "base_url"); address != "" {
		parts = append(parts, "base_url="+bare(address))
	}
	for _, key := range accountKeys {
		if v := scalar(n, key); v != "" {
			parts = append(parts, key+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

// bare is an address without what may be secret in it, or change for another reason.
func bare(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	u.Host = strings.ToLower(u.Host)
	return strings.TrimRight(u.String(), "/")
}

// scalar is the plain value of a key; "" if there is none.
func scalar(n *yaml.Node, key string) string {
	if value := yamlfile.Lookup(n, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}
