module boon.example/client

go 1.26.0
