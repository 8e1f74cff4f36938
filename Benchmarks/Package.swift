// swift-tools-version: 6.2
import PackageDescription

/// As in the package above: `make check`'s setting turns warnings into errors.
let strict = Context.environment["LADE_STRICT"] == "1"

let settings: [SwiftSetting] =
  [.enableUpcomingFeature("InternalImportsByDefault")]
  + (strict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
  name: "lade-benchmarks",
  dependencies: [
    .package(name: "lade", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    // Starts one program and reports its seconds and its peak memory; in C, so that it has next to none itself.
    .executableTarget(name: "measure"),
    .target(name: "BenchSupport", swiftSettings: settings),
    .executableTarget(
      name: "bench",
      dependencies: ["BenchSupport", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: settings),
    // What an import into SQLite is held against: a loop that does nothing but read, convert and bind.
    .executableTarget(name: "limit", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(name: "limit-keys", linkerSettings: [.linkedLibrary("sqlite3")]),
    // What answers during imports are held against.
    .executableTarget(name: "answer-limit", linkerSettings: [.linkedLibrary("sqlite3")]),
    // What queues are held against, and the client of all of them.
    .executableTarget(name: "queue-floor", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(name: "queue-load"),
    // What is measured runs as a process of its own.
    .executableTarget(
      name: "lade-queue",
      dependencies: [
        .product(name: "Jobs", package: "lade"), .product(name: "LadeDaemon", package: "lade"),
        .product(name: "ManagedObjects", package: "lade"), .product(name: "SQLiteStore", package: "lade"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "lade-import",
      dependencies: [
        .product(name: "ManagedObjects", package: "lade"),
        .product(name: "Importing", package: "lade"),
        .product(name: "PostgresStore", package: "lade"),
        .product(name: "SQLiteStore", package: "lade"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "lade-objects",
      dependencies: [
        "BenchSupport",
        .product(name: "ManagedObjects", package: "lade"),
        .product(name: "SQLiteStore", package: "lade"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "grdb-objects",
      dependencies: ["BenchSupport", .product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: settings),
    .executableTarget(
      name: "lade-stacks",
      dependencies: [
        "BenchSupport",
        .product(name: "MagicalRecord", package: "lade"),
        .product(name: "ManagedObjects", package: "lade"),
        .product(name: "SQLiteStore", package: "lade"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
