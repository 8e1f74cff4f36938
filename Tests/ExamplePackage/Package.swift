// swift-tools-version: 6.2
import PackageDescription

// A program that uses the object layer from outside: a model, the classes that the plugin generates from it, and main.
// `make check` builds and runs it.

let package = Package(
  name: "example",
  dependencies: [.package(name: "lade", path: "../..")],
  targets: [
    .executableTarget(
      name: "Example", dependencies: [.product(name: "ManagedObjects", package: "lade")],
      swiftSettings: [.treatAllWarnings(as: .error)],
      plugins: [.plugin(name: "ManagedObjectClasses", package: "lade")])
  ],
  swiftLanguageModes: [.v6]
)
