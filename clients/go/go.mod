module sluice.example/sluice

go 1.19
