//! What stores say of axes.

use orthant_formats::input::{AboutAxis, InputFault, Remark};

use super::*;

fn axis(name: &str, unit: Option<&str>, place: Option<(f64, f64)>) -> AboutAxis {
    let (spacing, origin) = place.unzip();
    AboutAxis { name: Some(name.into()), unit: unit.map(str::to_owned), spacing, origin }
}

/// Images of OME in several sizes, of both versions, alone and in a group.
#[test]
fn images_in_several_sizes_are_their_largest() {
    let folder = Folder::new("sizes");
    let image = json!([{
        "axes": [
            {"name": "c", "type": "channel"}, {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space", "unit": "micrometer"},
        ],
        "datasets": [
            {"path": "0", "coordinateTransformations": [
                {"type": "scale", "scale": [1, 0.5, 0.25]}, {"type": "translation", "translation": [0, 10, 20]}]},
            {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 0.5]}]},
        ],
        "coordinateTransformations": [{"type": "scale", "scale": [1, 2, 2]}],
    }]);
    let colours = json!({"colors": [{"label-value": 3, "rgba": [255, 0, 0, 128]}, {"label-value": 4}]});
    let put = |place: &str, attributes: Value| {
        folder.json(
            &format!("{place}zarr.json"),
            &json!({"zarr_format": 3, "node_type": "group", "attributes": attributes}),
        );
        folder.json(&format!("{place}0/zarr.json"), &third(&json!({})));
        folder.json(&format!("{place}1/zarr.json"), &third(&json!({"shape": [5, 3, 3]})));
    };
    put("a.zarr/", json!({"multiscales": image}));
    put("b.zarr/deep/", json!({"ome": {"version": "0.5", "multiscales": image, "image-label": colours}}));
    folder.json("b.zarr/.zgroup", &json!({"zarr_format": 2}));
    for (name, own) in [("a.zarr", "0"), ("b.zarr", "deep/0")] {
        let file = folder.open(name, None).unwrap();
        let um = |name, spacing, origin| axis(name, Some("micrometer"), Some((spacing, origin)));
        let axes = [um("x", 0.5, 39.75), um("y", 1.0, 19.5), axis("c", None, None)];
        assert_eq!((&file.layout().size[..], &file.about().axes[..]), (&[7, 6, 5][..], &axes[..]), "{name}");
        assert_eq!(file.about().remarks, [Remark::Sizes { name: own.into(), sizes: 2 }]);
        let labels: Vec<_> = file.about().labels.iter().map(|label| (label.word, label.colour)).collect();
        assert_eq!(labels, if name == "b.zarr" { vec![(3, Some([255, 0, 0, 128]))] } else { vec![] });
    }
    // Labels are said to be some, whether they have colours or not.
    put("l.zarr/", json!({"multiscales": image, "image-label": {"version": "0.4"}}));
    let labelled = |name: &str| folder.open(name, None).unwrap().about().labelled;
    assert_eq!([labelled("a.zarr"), labelled("b.zarr"), labelled("l.zarr")], [false, true, true]);
    // Another size is where it says, by whichever name.
    for (name, part) in [("a.zarr", Some("/1/")), ("a.zarr/1", None)] {
        let file = folder.open(name, part).unwrap();
        let x = axis("x", Some("micrometer"), Some((1.0, -0.5)));
        assert_eq!(
            (&file.layout().size[..], &file.about().axes[0], file.about().remarks.len()),
            (&[3, 3, 5][..], &x, 0)
        );
    }
    // Two are not chosen from, and one that leads nowhere, or out, is told.
    folder.json("b.zarr/beside/.zarray", &second(&json!({})));
    let several = folder.open("b.zarr", None).unwrap_err().wrong;
    assert!(
        matches!(&several, InputFault::Member { wanted: None, members: 2, names } if names[..] == ["/beside", "/deep"])
    );
    let missing = folder.open("b.zarr", Some("lost")).unwrap_err().wrong;
    assert!(matches!(missing, InputFault::Member { wanted: Some(name), members: 2, .. } if name == "/lost"));
    for (from, to, says) in [
        ("\"0\"", "\"../b\"", "a.zarr/zarr.json: line 48: path '../b': the name of an array is needed"),
        ("\"0\"", "\"2\"", "path '2': no array is there"),
        ("\"translation\"", "\"affine\"", "identity, or scale or translation with 3 numbers, can be read"),
    ] {
        put("a.zarr/", json!({"multiscales": image}));
        let text = fs::read_to_string(folder.0.join("a.zarr/zarr.json")).unwrap();
        let found = folder.put("a.zarr/zarr.json", text.replace(from, to)).wrong("a.zarr", None);
        let (_, said) = says.split_once("line 48: ").unwrap_or(("", says));
        assert!(found.starts_with("a.zarr/zarr.json: line ") && found.contains(said), "{found}");
    }
}

/// As xarray has axes: coordinates beside the array, and names in an attribute or, since version 3, in the metadata.
#[test]
fn coordinates_are_spacing_and_origin() {
    let folder = Folder::new("axes");
    let places = |from: f64, step: f64, count: usize| -> Vec<u8> {
        (0..count).flat_map(|i| (from + step * i as f64).to_le_bytes()).collect()
    };
    folder.json("a.zarr/zarr.json", &json!({"zarr_format": 3, "node_type": "group"}));
    folder.json("a.zarr/heat/zarr.json", &third(&json!({"dimension_names": ["time", "lat", null]})));
    let list = |name: &str, count: usize, unit: &str| {
        let grid = json!({"name": "regular", "configuration": {"chunk_shape": [count]}});
        let attributes = json!({"units": unit});
        third(
            &json!({"data_type": "float64", "shape": [count], "chunk_grid": grid, "dimension_names": [name], "attributes": attributes}),
        )
    };
    folder
        .json("a.zarr/time/zarr.json", &list("time", 5, "days since 2000-01-01"))
        .put("a.zarr/time/c/0", places(0.0, 2.0, 5));
    folder.json("a.zarr/lat/zarr.json", &list("lat", 6, "degrees_north")).put("a.zarr/lat/c/0", places(50.0, -1.0, 6));
    // A number alone, which is no array, and the only one that is none of the others' axes is taken.
    folder.json("a.zarr/crs/zarr.json", &third(&json!({"shape": []})));
    let file = folder.open("a.zarr", None).unwrap();
    let time = axis("time", Some("days since 2000-01-01"), Some((2.0, -1.0)));
    let lat = axis("lat", Some("degrees_north"), Some((-1.0, 50.5)));
    assert_eq!(file.about().axes, [AboutAxis::default(), lat.clone(), time]);
    folder.put("a.zarr/time/c/0", [places(0.0, 2.0, 4), places(9.0, 0.0, 1)].concat());
    let about = folder.open("a.zarr/heat", None).unwrap().about().clone();
    assert_eq!((about.axes[2].spacing, &about.remarks[..]), (None, &[Remark::Uneven("time".into())][..]));
    // In version 2.
    folder.json("b.zarr/.zgroup", &json!({"zarr_format": 2})).json("b.zarr/heat/.zarray", &second(&json!({})));
    folder.json("b.zarr/heat/.zattrs", &json!({"_ARRAY_DIMENSIONS": ["z", "lat", "x"]}));
    folder.json("b.zarr/lat/.zarray", &second(&json!({"shape": [6], "chunks": [6], "dtype": "<f8"})));
    folder.json("b.zarr/lat/.zattrs", &json!({"_ARRAY_DIMENSIONS": ["lat"], "units": "degrees_north"}));
    folder.put("b.zarr/lat/0", places(50.0, -1.0, 6));
    assert_eq!(folder.open("b.zarr", None).unwrap().about().axes, [axis("x", None, None), lat, axis("z", None, None)]);
}

/// A name leads to an array by its parts, beside which its axes are, whatever says nothing in it; and never out of the store.
#[test]
fn names_stay_within() {
    let folder = Folder::new("names");
    for group in ["", "a/", "a/b/"] {
        folder.json(&format!("s.zarr/{group}.zgroup"), &json!({"zarr_format": 2}));
    }
    for (group, from) in [("", 10.0f64), ("a/b/", 50.0)] {
        folder.json(&format!("s.zarr/{group}c/.zarray"), &second(&json!({})));
        folder.json(&format!("s.zarr/{group}c/.zattrs"), &json!({"_ARRAY_DIMENSIONS": ["z", "lat", "x"]}));
        let lat = second(&json!({"shape": [6], "chunks": [6], "dtype": "<f8"}));
        folder.json(&format!("s.zarr/{group}lat/.zarray"), &lat);
        folder.json(&format!("s.zarr/{group}lat/.zattrs"), &json!({"_ARRAY_DIMENSIONS": ["lat"]}));
        let places: Vec<u8> = (0..6).flat_map(|i| (from - f64::from(i)).to_le_bytes()).collect();
        folder.put(&format!("s.zarr/{group}lat/0"), places);
    }
    let lat = |name: &str| folder.open("s.zarr", Some(name)).unwrap().about().axes[1].clone();
    for (name, origin) in [("a/b/c", 50.5), ("/a//b/./c/", 50.5), ("c", 10.5)] {
        assert_eq!(lat(name), axis("lat", None, Some((-1.0, origin))), "{name}");
    }
    let whole = folder.open("s.zarr", Some("/")).unwrap_err().wrong;
    assert!(
        matches!(&whole, InputFault::Member { wanted: None, members: 2, names } if names[..] == ["/c", "/a/b/c"]),
        "{whole}"
    );
    // There would be one.
    folder.json("a/.zarray", &second(&json!({}))).json("s.zarr/.zarray", &second(&json!({})));
    for name in ["../a", "a/..", "c:\\a", "a\n"] {
        let wrong = folder.wrong("s.zarr", Some(name));
        assert!(wrong.starts_with("s.zarr: ") && wrong.ends_with(": no name of an array in a store"), "{wrong}");
    }
}
