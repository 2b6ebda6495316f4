from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="BindingTargetDto")


@_attrs_define
class BindingTargetDto:
    """
    Attributes:
        base_url (str | Unset): OpenAI-compatible server that the operator allows as a supplier. Example:
            https://models.inference.example.com/v1.
        credential (str | Unset): Bearer credential for the supplier; stored encrypted, shown never.
        deployment (str | Unset): With `revision`: a deployment of this tenant.
        model (str | Unset): What the supplier calls the model.
        revision (str | Unset): Id, number or name of its revision; resolved once and pinned.
        supplier (str | Unset): With `base_url` and `model`: who runs the server. Shown to admins only.
    """

    base_url: str | Unset = UNSET
    credential: str | Unset = UNSET
    deployment: str | Unset = UNSET
    model: str | Unset = UNSET
    revision: str | Unset = UNSET
    supplier: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        base_url = self.base_url

        credential = self.credential

        deployment = self.deployment

        model = self.model

        revision = self.revision

        supplier = self.supplier

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if base_url is not UNSET:
            field_dict["base_url"] = base_url
        if credential is not UNSET:
            field_dict["credential"] = credential
        if deployment is not UNSET:
            field_dict["deployment"] = deployment
        if model is not UNSET:
            field_dict["model"] = model
        if revision is not UNSET:
            field_dict["revision"] = revision
        if supplier is not UNSET:
            field_dict["supplier"] = supplier

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        base_url = d.pop("base_url", UNSET)

        credential = d.pop("credential", UNSET)

        deployment = d.pop("deployment", UNSET)

        model = d.pop("model", UNSET)

        revision = d.pop("revision", UNSET)

        supplier = d.pop("supplier", UNSET)

        binding_target_dto = cls(
            base_url=base_url,
            credential=credential,
            deployment=deployment,
            model=model,
            revision=revision,
            supplier=supplier,
        )

        binding_target_dto.additional_properties = d
        return binding_target_dto

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
