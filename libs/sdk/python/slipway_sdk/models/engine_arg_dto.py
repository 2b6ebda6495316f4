from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.engine_arg_dto_choices_type_3 import EngineArgDtoChoicesType3
    from ..models.engine_arg_dto_default_type_3 import EngineArgDtoDefaultType3
    from ..models.engine_arg_dto_tune_type_3 import EngineArgDtoTuneType3


T = TypeVar("T", bound="EngineArgDto")


@_attrs_define
class EngineArgDto:
    """
    Attributes:
        name (str): Key of `runtime.args` Example: ctx_size.
        type_ (str): `string` takes a number or true/false as well; `json` is the text of a JSON object or list. One of
            `string`, `integer`, `number`, `boolean`, `choice`, `json`.
        at_least (str | Unset): Another argument, whose value it may not be below
        choices (bool | EngineArgDtoChoicesType3 | float | list[Any] | None | str | Unset): A list: the values that it
            takes Example: ['f16', 'q8_0'].
        default (bool | EngineArgDtoDefaultType3 | float | list[Any] | None | str | Unset): Passed on where a revision
            sets nothing Example: 8192.
        max_ (float | Unset): Of a number, inclusive
        min_ (float | Unset): Of a number, inclusive
        quality (bool | Unset): It may change what the engine answers
        reason (str | Unset): What it is a choice between Example: throughput against ITL.
        tune (bool | EngineArgDtoTuneType3 | float | list[Any] | None | str | Unset): A list: values worth trying
            Example: [4096, 8192].
    """

    name: str
    type_: str
    at_least: str | Unset = UNSET
    choices: bool | EngineArgDtoChoicesType3 | float | list[Any] | None | str | Unset = UNSET
    default: bool | EngineArgDtoDefaultType3 | float | list[Any] | None | str | Unset = UNSET
    max_: float | Unset = UNSET
    min_: float | Unset = UNSET
    quality: bool | Unset = UNSET
    reason: str | Unset = UNSET
    tune: bool | EngineArgDtoTuneType3 | float | list[Any] | None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.engine_arg_dto_choices_type_3 import EngineArgDtoChoicesType3
        from ..models.engine_arg_dto_default_type_3 import EngineArgDtoDefaultType3
        from ..models.engine_arg_dto_tune_type_3 import EngineArgDtoTuneType3

        name = self.name

        type_ = self.type_

        at_least = self.at_least

        choices: bool | dict[str, Any] | float | list[Any] | None | str | Unset
        if isinstance(self.choices, Unset):
            choices = UNSET
        elif isinstance(self.choices, EngineArgDtoChoicesType3):
            choices = self.choices.to_dict()
        elif isinstance(self.choices, list):
            choices = self.choices

        else:
            choices = self.choices

        default: bool | dict[str, Any] | float | list[Any] | None | str | Unset
        if isinstance(self.default, Unset):
            default = UNSET
        elif isinstance(self.default, EngineArgDtoDefaultType3):
            default = self.default.to_dict()
        elif isinstance(self.default, list):
            default = self.default

        else:
            default = self.default

        max_ = self.max_

        min_ = self.min_

        quality = self.quality

        reason = self.reason

        tune: bool | dict[str, Any] | float | list[Any] | None | str | Unset
        if isinstance(self.tune, Unset):
            tune = UNSET
        elif isinstance(self.tune, EngineArgDtoTuneType3):
            tune = self.tune.to_dict()
        elif isinstance(self.tune, list):
            tune = self.tune

        else:
            tune = self.tune

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "type": type_,
            }
        )
        if at_least is not UNSET:
            field_dict["at_least"] = at_least
        if choices is not UNSET:
            field_dict["choices"] = choices
        if default is not UNSET:
            field_dict["default"] = default
        if max_ is not UNSET:
            field_dict["max"] = max_
        if min_ is not UNSET:
            field_dict["min"] = min_
        if quality is not UNSET:
            field_dict["quality"] = quality
        if reason is not UNSET:
            field_dict["reason"] = reason
        if tune is not UNSET:
            field_dict["tune"] = tune

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.engine_arg_dto_choices_type_3 import EngineArgDtoChoicesType3
        from ..models.engine_arg_dto_default_type_3 import EngineArgDtoDefaultType3
        from ..models.engine_arg_dto_tune_type_3 import EngineArgDtoTuneType3

        d = dict(src_dict)
        name = d.pop("name")

        type_ = d.pop("type")

        at_least = d.pop("at_least", UNSET)

        def _parse_choices(data: object) -> bool | EngineArgDtoChoicesType3 | float | list[Any] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                choices_type_3 = EngineArgDtoChoicesType3.from_dict(data)

                return choices_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                choices_type_4 = cast(list[Any], data)

                return choices_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | EngineArgDtoChoicesType3 | float | list[Any] | None | str | Unset, data)

        choices = _parse_choices(d.pop("choices", UNSET))

        def _parse_default(data: object) -> bool | EngineArgDtoDefaultType3 | float | list[Any] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                default_type_3 = EngineArgDtoDefaultType3.from_dict(data)

                return default_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                default_type_4 = cast(list[Any], data)

                return default_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | EngineArgDtoDefaultType3 | float | list[Any] | None | str | Unset, data)

        default = _parse_default(d.pop("default", UNSET))

        max_ = d.pop("max", UNSET)

        min_ = d.pop("min", UNSET)

        quality = d.pop("quality", UNSET)

        reason = d.pop("reason", UNSET)

        def _parse_tune(data: object) -> bool | EngineArgDtoTuneType3 | float | list[Any] | None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tune_type_3 = EngineArgDtoTuneType3.from_dict(data)

                return tune_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tune_type_4 = cast(list[Any], data)

                return tune_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(bool | EngineArgDtoTuneType3 | float | list[Any] | None | str | Unset, data)

        tune = _parse_tune(d.pop("tune", UNSET))

        engine_arg_dto = cls(
            name=name,
            type_=type_,
            at_least=at_least,
            choices=choices,
            default=default,
            max_=max_,
            min_=min_,
            quality=quality,
            reason=reason,
            tune=tune,
        )

        engine_arg_dto.additional_properties = d
        return engine_arg_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
