// A FerretDB server for the tests: the MongoDB protocol on 127.0.0.1, its data in PostgreSQL.
//
//	ferretdb -port 27017 -postgresql postgres://127.0.0.1:5432/postgres [-cert server.crt -key server.key]
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	port := flag.Int("port", 27017, "TCP port on 127.0.0.1")
	postgresql := flag.String("postgresql", "", "URL of the PostgreSQL database")
	cert := flag.String("cert", "", "server certificate, for TLS")
	key := flag.String("key", "", "key of the certificate")
	flag.Parse()

	address := fmt.Sprintf("127.0.0.1:%d", *port)
	listener := ferretdb.ListenerConfig{TCP: address}
	if *cert != "" {
		listener = ferretdb.ListenerConfig{TLS: address, TLSCertFile: *cert, TLSKeyFile: *key}
	}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:      listener,
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Handler:       "postgresql",
		PostgreSQLURL: *postgresql,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := server.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
