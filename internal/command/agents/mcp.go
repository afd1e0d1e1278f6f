// Package agents has the command by which an agent on this machine speaks to a running service.
package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/internal/command/terminal"
)

// MCP is the command boon mcp. It has no tools of its own: those of the service are passed on, so that an agent at a
// terminal and one that calls the service itself are told the same, and may do the same.
type MCP struct {
	Write bool `help:"Let the agent do something, too: send, block, give back. It is told first what would happen."`

	URL string `setting:"env" name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service. Default: ${default}."`
	Key string `setting:"env" name:"key" placeholder:"KEY" help:"API key. Better in the environment: arguments show in lists of processes."`
}

// Help implements kong.HelpProvider.
func (MCP) Help() string {
	return `For agents that speak the Model Context Protocol: they start this command, and talk to it on standard input and output. It passes
what they ask for on to POST /mcp of a running service. The agent may do what the API key may do. It is told no codes, links or
addresses of gifts. docs/guides/agents.md says more. The agent starts it with the API key in BOON_KEY.

Examples:

    boon mcp --url https://gifts.example.com
    boon mcp --url https://gifts.example.com --write`
}

// Run passes messages on until the agent is gone.
func (c *MCP) Run(t *terminal.Terminal) error {
	if c.Key == "" {
		return terminal.UsageError("An API key is needed: set BOON_KEY, or give --key. boon key create makes one.")
	}
	address, err := url.Parse(c.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return terminal.UsageError("--url must be an address such as https://gifts.example.com.")
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "boon-cli", Version: t.Version}, nil)
	service, err := client.Connect(t, &mcp.StreamableClientTransport{Endpoint: address.JoinPath("mcp").String(),
		HTTPClient: &http.Client{Transport: caller{c, t.Version}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return told(err)
	}
	defer service.Close()
	s := mcp.NewServer(&mcp.Implementation{Name: "boon", Title: "Boon", Version: t.Version},
		&mcp.ServerOptions{Instructions: service.InitializeResult().Instructions, Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}}}) // it tells nobody when they change
	for tool, err := range service.Tools(t, nil) {
		if err != nil {
			return told(err)
		}
		s.AddTool(tool, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := service.CallTool(ctx, &mcp.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
			if err != nil {
				return nil, whatNow(err)
			}
			return result, nil
		})
	}
	err = s.Run(t, &mcp.IOTransport{Reader: io.NopCloser(t.Stdin), Writer: unclosed{t.Stdout}})
	if t.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// caller makes requests with the key.
type caller struct {
	*MCP
	version string
}

// RoundTrip implements http.RoundTripper. A refusal is an error that tells why.
func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.Key)
	if c.Write {
		r.Header.Set("Boon-Agent", "write")
	}
	r.Header.Set("User-Agent", "boon-cli/"+c.version)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || answer.Header.Get("Content-Type") != "application/problem+json" {
		return answer, err
	}
	defer answer.Body.Close()
	var problem struct {
		Code     string
		Messages []struct{ Text string }
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&problem); err != nil {
		return nil, fmt.Errorf("reading a refusal of the service: %w", err)
	}
	refused := refusedError("refused: " + problem.Code)
	for _, m := range problem.Messages {
		refused += refusedError("\n  " + m.Text)
	}
	return nil, refused
}

// refusedError is what the service said no with.
type refusedError string

// Error implements error.
func (e refusedError) Error() string { return string(e) }

// told is a failure to reach the service, without what the protocol adds to it.
func told(err error) error {
	if refused, is := errors.AsType[refusedError](err); is {
		return refused
	}
	if called, is := errors.AsType[*url.Error](err); is {
		return called
	}
	return err
}

// whatNow tells an agent why a call has no answer, and what to do: the service may be away for a moment.
func whatNow(err error) error {
	err = told(err)
	if called, is := errors.AsType[*url.Error](err); is {
		return fmt.Errorf("the service does not answer, and nobody knows whether this was done. Call again with the same "+
			"arguments: what has a confirm is done once (%w)", called.Err)
	}
	return err
}

// unclosed is an output that stays open.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
