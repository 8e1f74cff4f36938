import Foundation
import PackagePlugin

/// Generates the classes of managed objects from each Core Data model among a target's files, as Xcode does.
///
/// ```swift
/// .target(name: "App", dependencies: [.product(name: "ManagedObjects", package: "lade")],
///   plugins: [.plugin(name: "ManagedObjectClasses", package: "lade")])
/// ```
///
/// `Company.xcdatamodeld` in the target's folder becomes `CompanyClasses.swift` in the build folder, made again when the
/// model changes. What is generated for an entity is what its Codegen setting says.
@main
struct ManagedObjectClasses: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    var commands: [Command] = []
    var outputs: Set<URL> = []
    for (model, files) in models(among: target.sourceFiles.map(\.url)) {
      let name = model.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)Classes.swift")
      guard outputs.insert(output).inserted else {
        Diagnostics.error("\(model.path): another model of the target \(target.name) is named \(name) too: rename one")
        continue
      }
      // The folder is an input too: what no command takes in, SwiftPM warns of as unhandled.
      commands.append(
        .buildCommand(
          displayName: "Generating classes from \(model.lastPathComponent)",
          executable: try context.tool(named: "modelclasses").url,
          arguments: [model.path, output.path, target.moduleName], inputFiles: [model] + files, outputFiles: [output]))
    }
    return commands
  }

  /// The models that files of the target belong to, with all files of each.
  private func models(among files: [URL]) -> [(URL, [URL])] {
    var found: Set<URL> = []
    for file in files {
      let parts = file.pathComponents
      let isModel = { (name: String) in name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".xcdatamodel") }
      guard let index = parts.firstIndex(where: isModel) else { continue }
      found.insert(parts[1...index].reduce(URL(filePath: "/")) { $0.appending(path: $1) })
    }
    return found.sorted { $0.path < $1.path }.map { model in (model, contents(of: model)) }
  }

  private func contents(of model: URL) -> [URL] {
    guard let names = FileManager.default.enumerator(at: model, includingPropertiesForKeys: nil) else { return [] }
    return names.compactMap { $0 as? URL }.filter { ["contents", ".xccurrentversion"].contains($0.lastPathComponent) }
      .sorted { $0.path < $1.path }
  }
}
