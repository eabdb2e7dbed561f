package sluicegrpc_test

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"sluice.example/sluice"
	"sluice.example/sluice/sluicegrpc"
	"sluice.example/sluice/throttle"
)

func ExampleUnaryServerInterceptor() {
	client, err := sluice.New(sluice.Config{URL: "http://127.0.0.1:8080"})
	if err != nil {
		panic(err)
	}
	config := sluicegrpc.ServerConfig{
		Attributes: func(ctx context.Context, method string, request any) sluice.Attributes {
			fields, _ := metadata.FromIncomingContext(ctx)
			user := fields.Get("x-verified-user")
			if user == nil {
				return nil // Not limited.
			}
			return sluice.Attributes{"user_id": user[0], "endpoint": method}
		},
	}
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(sluicegrpc.UnaryServerInterceptor(client, config)),
		grpc.ChainStreamInterceptor(sluicegrpc.StreamServerInterceptor(client, config)),
	)
	defer server.Stop()
}

func ExampleUnaryClientInterceptor() {
	config := sluicegrpc.ClientConfig{Throttle: throttle.New(throttle.DefaultPolicy())}
	connection, err := grpc.NewClient("api.example.com:443", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithChainUnaryInterceptor(sluicegrpc.UnaryClientInterceptor(config)),
		grpc.WithChainStreamInterceptor(sluicegrpc.StreamClientInterceptor(config)),
	)
	if err != nil {
		panic(err)
	}
	defer connection.Close()

	var held *throttle.HeldError
	if errors.As(err, &held) { // The error of a call.
		fmt.Println(held) // Not sent: the quota is used up for longer than the context's deadline.
	}
}
