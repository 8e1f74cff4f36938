extension SpoolIntake {
  /// Takes by other settings from now on, and looks at everything by them. The entries in hand are finished first. When this
  /// returns, the hot folders of new recipes are there and watched; one of a recipe that is gone is what any folder in
  /// `incoming/` is. What goes wrong with a folder is reported, and tried again, as always.
  package func reconfigure(_ new: SpoolSettings) async {
    await beginTurn()
    defer { endTurn() }
    let gone = Set(settings.recipes).subtracting(new.recipes)
    settings = new
    examiner = new.examiner(of: directories)
    for recipe in gone {
      hotFolders[recipe] = nil
      let place = WatchedDirectory.place(recipe: recipe)
      for (watch, watched) in watches where watched == place {
        watches[watch] = nil
        watcher?.unwatch(watch)
      }
      placesSeen.remove(place)
      placesGone[place] = nil
    }
    do {
      try refreshPlaces()
    } catch {
      _ = report(error, at: directories.path)
    }
    rescanIsDue = true
    wakeUp()
  }
}
