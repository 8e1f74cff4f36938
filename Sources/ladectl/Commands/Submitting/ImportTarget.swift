import ArgumentParser
import ControlAPI

/// The target of an import: a recipe, or an entity with options.
struct ImportTarget: ParsableArguments {
  @Option(help: ArgumentHelp("The recipe that says the rest.", valueName: "name"), completion: .recipes)
  var recipe: String?

  @Option(
    help: ArgumentHelp("The store (default: the one that has the entity).", valueName: "name"), completion: .stores)
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The entity that the records become; '*' for each file of a zip or tar into the entity of its name.",
      valueName: "name"), completion: .entities)
  var entity: String?

  @Option(
    help: ArgumentHelp(
      "insert rejects a record that is there already, upsert updates the object, update takes no new ones, replace puts "
        + "the file in place of all there is, synchronise deletes what the file hasn't got."))
  var mode: ImportMode?

  @Option(
    help: ArgumentHelp(
      "An option of the import, with the names that recipes have: 'delimiter=;', dry_run=true, "
        + "properties.born.column=Birth. Given again, the values are a list.", valueName: "name=value"),
    transform: { try NamedOption(parsing: $0) })
  var option: [NamedOption] = []
}

extension ImportMode: ExpressibleByArgument {}
