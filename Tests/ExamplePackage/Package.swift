// swift-tools-version: 6.2
import PackageDescription

// A program that uses the library from outside: a model, the classes that the plugin generates from it, an operation of its
// own for the queue, and main.
// `make check` builds and runs it.

let package = Package(
  name: "example",
  dependencies: [.package(name: "lade", path: "../..")],
  targets: [
    .executableTarget(
      name: "Example",
      dependencies: ["ManagedObjects", "SQLiteStore", "Importing", "Jobs"].map { .product(name: $0, package: "lade") },
      swiftSettings: [.treatAllWarnings(as: .error)],
      plugins: [.plugin(name: "ManagedObjectClasses", package: "lade")])
  ],
  swiftLanguageModes: [.v6]
)
