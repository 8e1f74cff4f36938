// swift-tools-version: 6.2
import PackageDescription

/// `make check` sets LADE_STRICT: a warning is then an error in every target of ours.
let strict = Context.environment["LADE_STRICT"] == "1"

let settings: [SwiftSetting] =
  [.enableUpcomingFeature("InternalImportsByDefault")]
  + (strict ? [.treatAllWarnings(as: .error)] : [])

/// Tests take half the time with it. `make check` and AddressSanitizer have it; a developer's `make test` builds faster without.
let optimised: [SwiftSetting] =
  strict || Context.environment["LADE_OPTIMISED"] == "1" ? [.unsafeFlags(["-O"])] : []

/// A target of ours, with what it may import and nothing else.
func layer(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = [],
  libraries: [LinkerSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: settings + optimised,
    linkerSettings: libraries)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings + optimised)
}

func tests(
  of name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = [],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .testTarget(
    name: name + "Tests", dependencies: [.init(stringLiteral: name), "TestSupport"] + dependencies, exclude: exclude,
    resources: resources, swiftSettings: settings, plugins: plugins)
}

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let ordered = Target.Dependency.product(name: "OrderedCollections", package: "swift-collections")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioExtras = Target.Dependency.product(name: "NIOExtras", package: "swift-nio-extras")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")

let package = Package(
  name: "lade",
  products: [
    .library(name: "ManagedObjects", targets: ["ManagedObjects"]),
    .library(name: "SQLSchema", targets: ["SQLSchema"]),
    .library(name: "SQLiteStore", targets: ["SQLiteStore"]),
    .library(name: "PostgresStore", targets: ["PostgresStore"]),
    .library(name: "StoreConformance", targets: ["StoreConformance"]),
    .library(name: "MagicalRecord", targets: ["MagicalRecord"]),
    .library(name: "Importing", targets: ["Importing"]),
    .library(name: "Jobs", targets: ["Jobs"]),
    .library(name: "LadeDaemon", targets: ["LadeDaemon"]),
    .plugin(name: "ManagedObjectClasses", targets: ["ManagedObjectClasses"]),
    .executable(name: "laded", targets: ["laded"]),
    .executable(name: "ladectl", targets: ["ladectl"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    // From the ground up: each layer imports only what stands above it in this list.
    .target(name: "CLinux"),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(
      name: "CArchive", pkgConfig: "libarchive",
      providers: [.apt(["libarchive-dev", "zlib1g-dev", "liblzma-dev", "libzstd-dev"])]),
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    layer("Spelling", []),
    layer("LadeTypes", ["Spelling"]),
    layer("StrictYAML", ["LadeTypes", yams]),
    // Foundation's own ICU, for the order of text.
    layer(
      "ManagedObjects", ["Spelling", "CLinux", ordered, logging], libraries: [.linkedLibrary("_FoundationICU")]),
    layer("CoreDataStores", ["ManagedObjects"]),
    layer("SQLSchema", ["ManagedObjects"]),
    layer("PostgreSQL", ["CPostgreSQL"]),
    layer(
      "SQLiteStore", ["ManagedObjects", "CoreDataStores", "SQLSchema", "CSQLite", ordered, grdb, sqlite, logging]),
    // By itself: neither ladectl nor programs that link the other libraries need libpq.
    layer("PostgresStore", ["ManagedObjects", "SQLSchema", "PostgreSQL", ordered, logging]),
    layer("StoreConformance", ["ManagedObjects"]),
    layer("MagicalRecord", ["ManagedObjects", "SQLiteStore"]),
    layer("ClassGeneration", ["ManagedObjects"]),
    program("modelclasses", ["ClassGeneration"]),
    .plugin(
      name: "ManagedObjectClasses", capability: .buildTool(), dependencies: ["modelclasses"],
      path: "Sources/Plugins/ManagedObjectClasses"),
    layer("Importing", ["LadeTypes", "ManagedObjects", "CoreDataStores", "CLinux", "CArchive", "CSQLite"]),
    layer("PostgresSource", ["Importing", "PostgreSQL"]),
    layer("Spool", ["LadeTypes", "StrictYAML", "CLinux", logging]),
    // `make classes` generates the classes from the model.
    layer(
      "Jobs", ["Spelling", "LadeTypes", "ManagedObjects", "CoreDataStores", "CLinux", "Importing", logging],
      exclude: ["Model/Queue.xcdatamodel"]),
    layer("Systemd", ["CSystemd"]),
    layer("ControlAPI", ["Spelling", "LadeTypes"]),
    // The interface's description is served from the program itself.
    layer(
      "ControlServer",
      [
        "CLinux", "ControlAPI", "LadeTypes", "StrictYAML", hummingbird, hummingbirdCore, nioCore, nioExtras, nioHTTP,
        nioHTTPTypes, nioPosix, lifecycle, logging,
      ],
      resources: [.embedInCode("OpenAPI/openapi.yaml")]),
    layer(
      "WebPages",
      ["ControlAPI", "ControlServer", "LadeTypes", hummingbird, lifecycle, logging, nioCore],
      resources: [
        .embedInCode("Resources/pages.css"), .embedInCode("Resources/pages.js"), .embedInCode("Resources/events.js"),
        .embedInCode("Resources/upload.js"), .embedInCode("Resources/keys.js"),
        .embedInCode("Resources/completion.js"), .embedInCode("Resources/mapping.js"),
        .embedInCode("Resources/icon.svg"),
      ]),
    layer(
      "LadeDaemon",
      [
        "LadeTypes", "ManagedObjects", "SQLiteStore", "Importing", "PostgreSQL", "PostgresSource",
        "PostgresStore", "Spool", "Jobs",
        "Systemd",
        "ControlAPI",
        "ControlServer", "WebPages",
        "StrictYAML", "CLinux", logging, lifecycle, signals,
      ]),
    program("laded", ["LadeDaemon", arguments]),
    program(
      "ladectl",
      [
        "CLinux", "ControlAPI", "LadeTypes", "ManagedObjects", "CoreDataStores", "Importing", arguments, nioCore,
        nioPosix, nioHTTP,
      ]),

    .target(
      name: "TestSupport", dependencies: ["ManagedObjects", "CLinux", yams], path: "Tests/TestSupport",
      swiftSettings: settings),
    // Lets SQLite's calls fail, in processes of its own: what tests of that run.
    .target(
      name: "CSQLiteFaults", path: "Tests/SQLiteFaults/Calls", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "sqlitefaults",
      dependencies: [
        "CSQLiteFaults", "LadeTypes", "ManagedObjects", "SQLiteStore", "Importing", "Jobs", arguments, grdb, logging,
      ],
      path: "Tests/SQLiteFaults/Program", swiftSettings: settings),
    // Stacks over every kind of store, for tests of what must be the same over each.
    .target(
      name: "StoreTestSupport",
      dependencies: ["ManagedObjects", "CoreDataStores", "PostgresStore", "SQLiteStore", "TestSupport", grdb],
      path: "Tests/StoreTestSupport", swiftSettings: settings),
    tests(of: "ManagedObjects", ["MagicalRecord", "SQLiteStore", "StoreTestSupport"]),
    tests(of: "CoreDataStores", ["ManagedObjects", "StoreTestSupport", grdb]),
    tests(
      of: "SQLiteStore",
      [
        "MagicalRecord", "ManagedObjects", "PostgresStore", "SQLSchema", "PostgreSQL", "StoreTestSupport", grdb, sqlite,
        logging,
      ]),
    tests(of: "PostgresStore", ["ManagedObjects", "PostgreSQL", "SQLSchema", ordered, logging]),
    tests(of: "StoreConformance", ["ManagedObjects", "PostgresStore", "SQLiteStore", ordered]),
    tests(of: "MagicalRecord", ["ManagedObjects", "SQLiteStore", "StoreTestSupport"]),
    tests(
      of: "ClassGeneration", ["MagicalRecord", "ManagedObjects", "SQLiteStore"], plugins: ["ManagedObjectClasses"]),
    tests(
      of: "Importing", ["ManagedObjects", "PostgresStore", "SQLiteStore", "CArchive", "CSQLite", grdb, sqlite],
      exclude: ["Resources"]),
    tests(of: "Spool", ["CLinux", "LadeTypes", "StrictYAML"]),
    tests(
      of: "Jobs",
      [
        "ManagedObjects", "SQLiteStore", "PostgresStore", "CoreDataStores", "Importing", "CArchive", "sqlitefaults",
        grdb,
        logging,
      ]),
    tests(of: "Systemd", []),
    // A daemon in memory, for tests of what is served.
    .target(
      name: "ControlTestSupport", dependencies: ["ControlAPI", "ControlServer", "LadeTypes"],
      path: "Tests/ControlTestSupport", swiftSettings: settings),
    tests(
      of: "ControlServer", ["ControlAPI", "ControlTestSupport", "ladectl", arguments, lifecycle, logging, nioHTTP]),
    tests(
      of: "WebPages",
      ["ControlAPI", "ControlServer", "ControlTestSupport", "LadeTypes", hummingbird, lifecycle, logging]),
    tests(
      of: "LadeDaemon",
      [
        "CArchive", "ControlAPI", "CoreDataStores", "Importing", "Jobs", "ManagedObjects", "SQLiteStore", "laded",
        "ladectl",
        logging,
      ]),
    .testTarget(
      name: "DocumentsTests",
      dependencies: [
        "TestSupport", "laded", "ladectl", "ManagedObjects", "SQLiteStore", "MagicalRecord", "Importing", "Jobs",
      ], exclude: ["run-blocks"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// The fuzz targets are linked with libFuzzer, which brings its own `main`: they are there for `make fuzz` alone, and what
// has a `main` of its own isn't.
if Context.environment["LADE_FUZZ"] == "1" {
  package.products = []
  package.targets.removeAll { [.test, .plugin, .executable].contains($0.type) }
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["ManagedObjects", "Importing"], path: "Tests/Fuzz", exclude: ["Corpus"],
      swiftSettings: settings))
}

// `make test MODULES=JobsTests,SpoolTests` builds the tests of these modules only.
if let chosen = Context.environment["LADE_TESTS"]?.split(separator: ",").map(String.init), !chosen.isEmpty {
  package.targets.removeAll { $0.type == .test && $0.name.hasSuffix("Tests") && !chosen.contains($0.name) }
}
