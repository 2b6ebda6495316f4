from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.engine_arg_dto import EngineArgDto


T = TypeVar("T", bound="TargetEngineDto")


@_attrs_define
class TargetEngineDto:
    """
    Attributes:
        args (list[str]): What `runtime.args` may set Example: ['ttft_ms'].
        env (list[str]): What `runtime.env` may set
        name (str): What `runtime.engine` of a revision may name Example: sim.
        declared (list[EngineArgDto] | Unset): The same arguments as they are declared
        template (str | Unset): The built-in template that it extends Example: llamacpp@1.
    """

    args: list[str]
    env: list[str]
    name: str
    declared: list[EngineArgDto] | Unset = UNSET
    template: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        args = self.args

        env = self.env

        name = self.name

        declared: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.declared, Unset):
            declared = []
            for declared_item_data in self.declared:
                declared_item = declared_item_data.to_dict()
                declared.append(declared_item)

        template = self.template

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "args": args,
                "env": env,
                "name": name,
            }
        )
        if declared is not UNSET:
            field_dict["declared"] = declared
        if template is not UNSET:
            field_dict["template"] = template

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.engine_arg_dto import EngineArgDto

        d = dict(src_dict)
        args = cast(list[str], d.pop("args"))

        env = cast(list[str], d.pop("env"))

        name = d.pop("name")

        _declared = d.pop("declared", UNSET)
        declared: list[EngineArgDto] | Unset = UNSET
        if _declared is not UNSET:
            declared = []
            for declared_item_data in _declared:
                declared_item = EngineArgDto.from_dict(declared_item_data)

                declared.append(declared_item)

        template = d.pop("template", UNSET)

        target_engine_dto = cls(
            args=args,
            env=env,
            name=name,
            declared=declared,
            template=template,
        )

        target_engine_dto.additional_properties = d
        return target_engine_dto

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
