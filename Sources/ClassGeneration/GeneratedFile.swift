package import Foundation
import ManagedObjects

/// The source that is generated from a model's current version, and what there is to say about it.
package struct GeneratedFile {
  /// The source.
  package let source: String
  /// Warnings as compilers write them, each with the file.
  package let warnings: [String]

  /// - Throws: ``ModelError``.
  package init(of url: URL, module: String?) throws {
    let (file, xml) = try ManagedObjectModel.currentContents(of: url)
    let name = url.deletingPathExtension().lastPathComponent
    var generator = try ClassGenerator(xml: xml, name: name, fileName: url.lastPathComponent, module: module)
    source = generator.source()
    warnings = generator.warnings.map { "\(file.path):1: warning: \($0)" }
  }
}
