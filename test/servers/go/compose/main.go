// Reads a compose file with the library that Docker itself reads it with, and prints what becomes of it as JSON.
//
//	compose FILE PROFILE,PROFILE…
//
// Variables are those of the environment, and of the file .env beside it.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions([]string{os.Args[1]},
		cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, cli.WithProfiles(strings.Split(os.Args[2], ",")))
	check(err)
	project, err := options.LoadProject(context.Background())
	check(err)
	text, err := project.MarshalJSON()
	check(err)
	fmt.Println(string(text))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
